import { setFlagsFromString } from 'node:v8'
import { readConfiguration, type Configuration } from '../../infra/configuration.ts'
import type { Subscription } from '../../packages/kernel/ports.ts'
import { openRuntime, type Runtime, type RuntimeOptions } from './dependencies.ts'
import { serveHealth } from './listen.ts'
import { closeInTurn, orClose } from './closing.ts'

export interface Served extends Subscription {
  /** Its port; left out, it serves only its health. */
  readonly port?: number
}

/** V8 by itself collects a quickly grown heap only at four times its size. */
const heapGrowingPercent = 100

/** Runs one service as a process of its own until SIGTERM or SIGINT. */
export function serve(
  name: string,
  start: (runtime: Runtime) => Promise<Served>,
  { usesBus = false }: Pick<RuntimeOptions, 'usesBus'> = {},
): Promise<void> {
  return run(async (configuration, ending) => {
    // Its supervisor has announced it once for all.
    if (!process.send) warnOfLimitations(configuration, { isApart: true })
    const runtime = await openRuntime(configuration, { service: name, usesBus, ending })
    if (name === 'api') warnOfMissingRails(runtime)
    return orClose(runtime, async () => {
      const served = await start(runtime)
      const health = await serveHealth(runtime.health, configuration.healthPort)
      const at = served.port === undefined ? '' : `http://localhost:${served.port}, health on `
      process.stdout.write(`${name} is ready: ${at}http://localhost:${health.port}/readyz\n`)
      return async () => {
        runtime.health.stop()
        await closeInTurn(served, health, runtime)
      }
    })
  })
}

/**
 * Starts something that returns a stop function, and stops it when this process is told to end or its parent
 * is gone. A start that waits then ends at once, which `ending` says. A failed start is one sentence.
 */
export async function run(
  start: (configuration: Configuration, ending: AbortSignal) => Promise<() => Promise<void>>,
): Promise<void> {
  setFlagsFromString(`--heap-growing-percent=${heapGrowingPercent}`)
  try {
    const ending = new AbortController()
    const starting = start(readConfiguration(), ending.signal).catch((error: unknown) => {
      // A start that ends because it is told to leaves nothing to stop.
      if (error !== ending.signal.reason) throw error
      return async () => undefined
    })
    // Once, however often it is told to end: who is ended in between leaves the embedded server behind.
    let stopped: Promise<void> | undefined
    const stop = () => {
      ending.abort()
      return (stopped ??= starting.then((close) => close()))
    }
    const end = () => void stop().then(() => process.exit(0), fail)
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, end)
    if (process.send) process.once('disconnect', end)
    const loading = loadAhead().catch(async (error: unknown) => {
      await stop()
      throw error
    })
    await Promise.all([starting, loading])
  } catch (error) {
    fail(error)
  }
}

/**
 * The command line loads these when it uses them, if ever. A service cannot do without: Node remembers for
 * ever that a file could not be loaded, if only because too many were open, and an upgrade may replace them.
 */
async function loadAhead(): Promise<void> {
  await Promise.all([import('jose'), import('nodemailer')])
}

function fail(error: unknown): void {
  process.stderr.write(`${(error as Error).message}\n`)
  process.exit(1)
}

/** What works only in part: said at the start, so that nobody has to find out. */
export function warnOfLimitations(configuration: Configuration, options: LimitationOptions): void {
  for (const oddity of oddities(configuration, options)) process.stderr.write(`${oddity}\n`)
}

/** Without a live rail, live keys cannot do anything that moves money. */
export function warnOfMissingRails({ dependencies }: Runtime): void {
  if (dependencies.rail.serves({ livemode: true })) return
  process.stderr.write('No live provider is configured: live payments, payouts and refunds are refused\n')
}

export interface LimitationOptions {
  /** Other processes do part of the work. */
  readonly isApart: boolean
}

function oddities(configuration: Configuration, { isApart }: LimitationOptions): readonly string[] {
  const { postgresUrl, eventStoreUrl, kafkaBrokers, masterKey, dataDirectory } = configuration
  const isDistributed = isApart || eventStoreUrl !== undefined || kafkaBrokers !== undefined
  const found: string[] = []
  if (isDistributed && postgresUrl === undefined) {
    const data = eventStoreUrl === undefined ? 'events and read models' : 'read models'
    const where = `the embedded PostgreSQL of ${dataDirectory}`
    found.push(`POSTGRES_URL is not set: ${data} are in ${where}, which only processes of this machine reach`)
  }
  if (isApart && masterKey === undefined && postgresUrl !== undefined) {
    const key = `${dataDirectory}/master.key`
    found.push(`MASTER_KEY is not set: webhook secrets are sealed with ${key}, which every process needs`)
  }
  return found
}
