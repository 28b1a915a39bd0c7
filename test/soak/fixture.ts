import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { startBroker } from '../../infra/kafka/broker.ts'
import type { Credentials } from '../../services/composition/credentials.ts'
import { nodeArguments } from '../support/processes/child-process.ts'
import { eventually } from '../support/eventually.ts'
import { root } from '../support/root.ts'
import { childrenOf } from './machine.ts'

export type Mode = 'distributed' | 'all-in-one'

/** A process that is watched, and where it tells its metrics. */
export interface Watched {
  readonly name: string
  readonly pid: number
  /** Of its health. */
  readonly port: number
}

export interface SoakFixture {
  readonly watched: readonly Watched[]
  readonly apiPort: number
  readonly sandboxKey: string
  stop(): Promise<void>
}

const services = ['api', 'processes', 'projector', 'relay', 'webhooks']
const patienceMs = 180_000

/** Starts the service as its users do, with everything in this directory. */
export async function startSoakFixture(mode: Mode, directory: string): Promise<SoakFixture> {
  const broker = mode === 'distributed' ? await startOwnBroker(directory) : undefined
  const main = start(mode, directory, broker?.address)
  const stop = async () => {
    main.child.kill('SIGTERM')
    await main.ended
    await broker?.stop()
  }
  try {
    const watched = mode === 'distributed' ? await watchedApart(main) : [await watchedWhole(main)]
    const file = join(directory, 'credentials.json')
    const { sandbox_key: sandboxKey } = JSON.parse(readFileSync(file, 'utf8')) as Credentials
    return { watched, apiPort: apiPortOf(main.said()), sandboxKey, stop }
  } catch (error) {
    await stop()
    throw new Error(`the service did not start: ${main.said()}`, { cause: error })
  }
}

interface Main {
  readonly child: ChildProcess
  readonly ended: Promise<unknown>
  readonly said: () => string
}

function startOwnBroker(directory: string) {
  // Fetched once for this copy of the sources, as for make kafka.
  return startBroker({ directory: join(directory, 'kafka'), jars: join(root, '.data/kafka-jars'), port: 0 })
}

function start(mode: Mode, directory: string, brokers: string | undefined): Main {
  const settings = { DATA_DIR: directory, PORT: '0', RATE_LIMIT: 'off', EGRESS_ALLOW: '127.0.0.0/8' }
  const env = { ...process.env, ...settings, LOG_LEVEL: 'error', ...(brokers && { KAFKA_BROKERS: brokers }) }
  // Services apart are started with the arguments of the process that starts them.
  const program = nodeArguments(`services/${mode}/main`, 'test/soak/collect')
  const child = spawn(process.execPath, [...program], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  let said = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (said = (said + text).slice(-100_000)))
  return { child, ended: once(child, 'close'), said: () => said }
}

function apiPortOf(said: string): number {
  const apart = /api is ready: http:\/\/localhost:(\d+)/.exec(said)
  return Number((apart ?? /ikw-payments +http:\/\/localhost:(\d+)/.exec(said)!)[1])
}

async function watchedWhole({ child, said }: Main): Promise<Watched> {
  const portOf = async () => Number(/health +http:\/\/localhost:(\d+)/.exec(said())?.[1] ?? 0)
  return { name: 'service', pid: child.pid!, port: await eventually(portOf, (port) => port > 0, patienceMs) }
}

/** The API comes first. */
async function watchedApart({ child, said }: Main): Promise<readonly Watched[]> {
  const portOf = (name: string) =>
    Number(new RegExp(`${name} is ready: .*http://localhost:(\\d+)/readyz\n`).exec(said())?.[1] ?? 0)
  await eventually(
    async () => services.map(portOf),
    (ports) => ports.every((port) => port > 0),
    patienceMs,
  )
  const running = childrenOf(child.pid!)
  return services.map((name) => {
    const { pid } = running.find(({ command }) => command.includes(`services/${name}/serve`))!
    return { name, pid, port: portOf(name) }
  })
}
