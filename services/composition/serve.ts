import { setFlagsFromString } from 'node:v8'
import { readConfiguration, type Configuration } from '../../infra/configuration.ts'
import type { Subscription } from '../../packages/kernel/ports.ts'
import { openRuntime, type Runtime, type RuntimeOptions } from './dependencies.ts'
import { serveHealth } from './listen.ts'
import { leaveEmbedded } from '../../infra/postgres/server/embedded.ts'
import { closeInTurn, closingParts, orClose, part } from './closing.ts'

export interface Served extends Subscription {
  /** Its port; left out, it serves only its health. */
  readonly port?: number
}

/** Much longer than requests, timers and an embedded server take to end. */
const stopMostMsUsual = 60_000
/** Who is told to end again sooner was told twice, as by a terminal and by a supervisor. */
const impatientMs = 1_000

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
        await closeInTurn(part(name, served), health, runtime)
      }
    })
  })
}

/**
 * Starts something that returns a stop function, and stops it when this process is told to end or its parent
 * is gone. A start that waits then ends at once, which `ending` says. A failed start is one sentence, and so
 * is a stop that hangs.
 */
export async function run(
  start: (configuration: Configuration, ending: AbortSignal) => Promise<() => Promise<void>>,
  { stopMostMs = stopMostMsUsual } = {},
): Promise<void> {
  setFlagsFromString(`--heap-growing-percent=${heapGrowingPercent}`)
  try {
    const ending = new AbortController()
    const configuration = readConfiguration()
    const starting = start(configuration, ending.signal).catch((error: unknown) => {
      // A start that ends because it is told to leaves nothing to stop.
      if (error !== ending.signal.reason) throw error
      return async () => undefined
    })
    // Once, however often it is told to end: who is ended in between leaves the embedded server behind.
    let stopped: Promise<void> | undefined
    const stop = () => {
      ending.abort()
      return (stopped ??= starting.then((close) => close()).finally(leaveServers))
    }
    const patience = new StopPatience(stopMostMs + configuration.drainSeconds * 1_000)
    const end = () => {
      patience.begin()
      void stop().then(
        () => patience.unlessOver(() => process.exit(0)),
        (error: unknown) => patience.unlessOver(() => fail(error)),
      )
    }
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, end)
    if (process.send) process.once('disconnect', end)
    const loading = loadAhead().catch(async (error: unknown) => {
      await stop()
      throw error
    })
    await Promise.all([starting, loading])
  } catch (error) {
    await leaveServers().catch(() => undefined)
    fail(error)
  }
}

/** What hangs in a start may keep others from being closed, and an embedded server outlives this process. */
function leaveServers(): Promise<unknown> {
  return part('database', { close: leaveEmbedded }).close()
}

/** Ends a stop that hangs, but leaves no embedded server behind: only one that is killed does. */
class StopPatience {
  readonly #mostMs: number
  #begunAt: number | undefined
  #isTold = false
  #isOver = false

  constructor(mostMs: number) {
    this.#mostMs = mostMs
  }

  /** Whoever asks again is told what it waits for. */
  begin(): void {
    const now = performance.now()
    if (this.#begunAt === undefined) setTimeout(() => void this.#giveUp().catch(fail), this.#mostMs)
    this.#begunAt ??= now
    if (this.#isTold || now - this.#begunAt < impatientMs) return
    this.#isTold = true
    const leftSeconds = Math.ceil((this.#begunAt + this.#mostMs - now) / 1_000)
    process.stderr.write(`Still stopping: ${hangingParts()}; at most ${leftSeconds} s more\n`)
  }

  unlessOver(exit: () => void): void {
    if (!this.#isOver) exit()
  }

  async #giveUp(): Promise<never> {
    this.#isOver = true
    const seconds = Math.round(this.#mostMs / 1_000)
    process.stderr.write(`Not stopped within ${seconds} s: ${hangingParts()}; ended all the same\n`)
    await leaveEmbedded()
    process.exit(1)
  }
}

function hangingParts(): string {
  return closingParts().join(', ') || 'what was being started'
}

/**
 * The command line loads these when it uses them, if ever. A service cannot do without: Node remembers for
 * ever that a file could not be loaded, if only because too many were open, and an upgrade may replace them.
 * What is larger and seldom wanted is loaded by `lateModule`.
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
