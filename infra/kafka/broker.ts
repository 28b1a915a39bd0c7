import { spawn, spawnSync } from 'node:child_process'
import { randomBytes, randomInt } from 'node:crypto'
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, connect } from 'node:net'
import { join, resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { isRunning } from '../os/processes.ts'
import { kafkaJars } from './jars.ts'

export interface BrokerOptions {
  /** Directory of its data, its log and its process id. */
  readonly directory: string
  /** Directory of its jars, so that they are fetched only once. */
  readonly jars: string
  /** 0 picks any free port. */
  readonly port: number
  /** The `host:port` advertised to clients when there is a proxy in front of the broker. */
  readonly advertised?: string
  /** A second listener that only accepts TLS with this name and password. */
  readonly secured?: SecuredListener
}

export interface SecuredListener {
  readonly port: number
  /** PEM: the private key (PKCS #8), followed by the certificate. */
  readonly keyStore: string
  readonly username: string
  readonly password: string
}

export interface Broker {
  /** `127.0.0.1:9092` */
  readonly address: string
  readonly pid: number
  /** False when it was already running. */
  readonly isNew: boolean
  stop(): Promise<void>
}

const host = '127.0.0.1'
const startTimeoutMs = 90_000
const stopTimeoutMs = 30_000
const lookEveryMs = 100
/** Below the ephemeral ports, so that a restarted broker finds its own port still free. */
const anyPort = [20_000, 32_000] as const
/** A broker for a single machine: small and quick to start. */
const javaOptions = ['-Xmx512m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1']
const logOptions = [
  '-Dorg.slf4j.simpleLogger.defaultLogLevel=warn',
  '-Dorg.slf4j.simpleLogger.showDateTime=true',
]

/** Starts a real broker for this machine only, or finds the one that is already running. */
export async function startBroker(options: BrokerOptions): Promise<Broker> {
  const running = await runningBroker(options.directory)
  if (running) return { ...running, isNew: false, stop: () => stopBroker(options.directory) }
  const classPath = join(kafkaJars(resolve(options.jars)), '*')
  const home = homeOf(options.directory)
  mkdirSync(home.directory, { recursive: true })
  const address = `${host}:${await freePort(options.port)}`
  writeFileSync(home.properties, await properties(address, options, home))
  if (!existsSync(join(home.data, 'meta.properties'))) format(classPath, home.properties)
  const pid = launch(classPath, home)
  writeFileSync(home.pidFile, `${pid} ${address}\n`)
  await untilItAnswers(pid, address, home)
  return { address, pid, isNew: true, stop: () => stopBroker(options.directory) }
}

/** Stops this directory's broker if it runs. */
export async function stopBroker(directory: string): Promise<void> {
  const running = await runningBroker(directory)
  const { pidFile, log } = homeOf(directory)
  if (running) process.kill(running.pid, 'SIGTERM')
  const deadline = Date.now() + stopTimeoutMs
  while (running && isRunning(running.pid)) {
    if (Date.now() > deadline) throw new Error(`Kafka does not stop: see ${log}`)
    await pause(lookEveryMs)
  }
  rmSync(pidFile, { force: true })
}

interface Home {
  readonly directory: string
  readonly data: string
  readonly properties: string
  readonly log: string
  readonly pidFile: string
}

function homeOf(path: string): Home {
  const directory = resolve(path)
  return {
    directory,
    data: join(directory, 'data'),
    properties: join(directory, 'server.properties'),
    log: join(directory, 'broker.log'),
    pidFile: join(directory, 'broker.pid'),
  }
}

async function properties(
  address: string,
  { advertised = address, secured }: BrokerOptions,
  { data }: Home,
): Promise<string> {
  const controller = `${host}:${await freePort(0)}`
  return Object.entries({
    'process.roles': 'broker,controller',
    'node.id': '1',
    'controller.quorum.voters': `1@${controller}`,
    ...listeners({ address, advertised, controller }, secured),
    'controller.listener.names': 'CONTROLLER',
    'log.dirs': data,
    'auto.create.topics.enable': 'false',
    'group.initial.rebalance.delay.ms': '0',
    'offsets.topic.num.partitions': '4',
    'offsets.topic.replication.factor': '1',
    'transaction.state.log.num.partitions': '1',
    'transaction.state.log.replication.factor': '1',
    'transaction.state.log.min.isr': '1',
  })
    .map(([name, value]) => `${name}=${value}\n`)
    .join('')
}

interface Addresses {
  readonly address: string
  readonly advertised: string
  readonly controller: string
}

function listeners(
  { address, advertised, controller }: Addresses,
  secured: SecuredListener | undefined,
): Record<string, string> {
  const open = {
    listeners: `PLAINTEXT://${address},CONTROLLER://${controller}`,
    'advertised.listeners': `PLAINTEXT://${advertised}`,
    'listener.security.protocol.map': 'PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT',
  }
  if (!secured) return open
  const { port, keyStore, username, password } = secured
  const own = 'listener.name.secured'
  const module = 'org.apache.kafka.common.security.plain.PlainLoginModule'
  return {
    listeners: `${open.listeners},SECURED://${host}:${port}`,
    'advertised.listeners': `${open['advertised.listeners']},SECURED://${host}:${port}`,
    'listener.security.protocol.map': `${open['listener.security.protocol.map']},SECURED:SASL_SSL`,
    'inter.broker.listener.name': 'PLAINTEXT',
    [`${own}.sasl.enabled.mechanisms`]: 'PLAIN',
    [`${own}.plain.sasl.jaas.config`]: `${module} required user_${username}="${password}";`,
    [`${own}.ssl.keystore.type`]: 'PEM',
    [`${own}.ssl.keystore.location`]: keyStore,
  }
}

/**
 * A Kafka identifier, 16 bytes in base64url, but never with a leading dash: `kafka-storage` would take that
 * for an option.
 */
export function newClusterId(bytes = randomBytes(16)): string {
  return Buffer.from(bytes)
    .fill(bytes[0]! & 0x7f, 0, 1)
    .toString('base64url')
}

function format(classPath: string, propertiesFile: string): void {
  const parameters = [
    'kafka.tools.StorageTool',
    'format',
    '--cluster-id',
    newClusterId(),
    '--config',
    propertiesFile,
  ]
  const run = spawnSync('java', [...javaOptions, ...logOptions, '-cp', classPath, ...parameters], {
    encoding: 'utf8',
  })
  if (run.status !== 0)
    throw new Error(`Kafka's storage cannot be made: ${(run.stderr || run.stdout).trim()}`)
}

/** Detached: it outlives us and ignores a key press that interrupts us. */
function launch(classPath: string, home: Home): number {
  const log = openSync(home.log, 'w')
  const parameters = [...javaOptions, ...logOptions, '-cp', classPath, 'kafka.Kafka', home.properties]
  const child = spawn('java', parameters, {
    cwd: home.directory,
    detached: true,
    stdio: ['ignore', log, log],
  })
  closeSync(log)
  child.unref()
  if (child.pid === undefined) throw new Error('Kafka cannot be started: there is no java')
  return child.pid
}

async function untilItAnswers(pid: number, address: string, { log }: Home): Promise<void> {
  const deadline = Date.now() + startTimeoutMs
  while (!(await answers(address))) {
    if (!isRunning(pid))
      throw new Error(`Kafka does not start: ${readFileSync(log, 'utf8').trim().split('\n').at(-1)}`)
    if (Date.now() > deadline) throw new Error(`Kafka does not answer: see ${log}`)
    await pause(lookEveryMs)
  }
}

async function runningBroker(directory: string): Promise<Pick<Broker, 'pid' | 'address'> | undefined> {
  const { pidFile } = homeOf(directory)
  if (!existsSync(pidFile)) return undefined
  const [pid, address] = readFileSync(pidFile, 'utf8').trim().split(' ') as [string, string]
  // After a restart of the machine the process id may be another process's; that one does not answer here.
  return isRunning(Number(pid)) && (await answers(address)) ? { pid: Number(pid), address } : undefined
}

function answers(address: string): Promise<boolean> {
  return new Promise((answer) => {
    const socket = connect(Number(address.split(':')[1]), host)
    const end = (result: boolean) => {
      socket.destroy()
      answer(result)
    }
    socket.once('connect', () => end(true)).once('error', () => end(false))
  })
}

/** The port itself if given and free. */
export async function freePort(wanted: number): Promise<number> {
  if (wanted !== 0) {
    if (await isFree(wanted)) return wanted
    throw new Error(`port ${wanted} is in use, but Kafka is to listen there`)
  }
  for (;;) {
    const port = randomInt(...anyPort)
    if (await isFree(port)) return port
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((answer) => {
    const server = createServer()
    server.once('error', () => answer(false))
    server.listen(port, host, () => server.close(() => answer(true)))
  })
}
