import { Connection } from './connection.ts'
import type { Flow } from './flow.ts'
import { flowOf, type FlowPlan } from './flows.ts'
import { spreadOf, type Spread } from '../report/statistics.ts'

export interface Load {
  readonly port: number
  /** Default: this machine. */
  readonly host?: string
  readonly connections: number
  readonly plan: FlowPlan
  readonly warmMs: number
  readonly measuredMs: number
  /**
   * Units started per second at even intervals, whatever the answers do (open loop). Left out: closed loop.
   */
  readonly perSecond?: number
  /** Stops early after this many units. */
  readonly unitsMax?: number
}

export interface LoadResult extends Spread {
  /** Units that ended within the measured time. */
  readonly units: number
  /** Units that ended at any time. */
  readonly answered: number
  readonly perSecond: number
  /** Percent of one core. */
  readonly cpuPercent: number
}

export interface LoadStop {
  readonly stop: true
}

export type LoadReply = { readonly result: LoadResult } | { readonly failure: string }

interface Clock {
  readonly begin: number
  /** Earlier where it was stopped. */
  end: number
}

/** `stop` ends it before its measured time has passed. */
export async function make(load: Load, stop?: AbortSignal): Promise<LoadResult> {
  const connections = Array.from({ length: load.connections }, () => new Connection(load.port, load.host))
  const begin = performance.now() + load.warmMs
  const clock: Clock = { begin, end: begin + load.measuredMs }
  stop?.addEventListener('abort', () => (clock.end = Math.min(clock.end, performance.now())))
  const durations: number[] = []
  const answered = { units: 0 }
  const cpu = process.cpuUsage()
  const started = performance.now()
  const flow = flowOf(load.plan)
  try {
    if (load.perSecond === undefined) await follow(load, { connections, flow, clock, durations, answered })
    else await pace(load.perSecond, { connections, flow, clock, durations, answered })
  } finally {
    for (const connection of connections) connection.close()
  }
  const wallMs = performance.now() - started
  const { user, system } = process.cpuUsage(cpu)
  const measuredMs = Math.min(load.measuredMs, performance.now() - begin)
  const perSecond = (durations.length / measuredMs) * 1_000
  const cpuPercent = (user + system) / 10 / wallMs
  return { units: durations.length, answered: answered.units, perSecond, cpuPercent, ...spreadOf(durations) }
}

interface Work {
  readonly connections: readonly Connection[]
  readonly flow: Flow
  readonly clock: Clock
  readonly durations: number[]
  readonly answered: { units: number }
}

/** Closed loop: each connection starts its next unit when the last one has ended. */
async function follow(
  { unitsMax = Infinity }: Load,
  { connections, flow, clock, durations, answered }: Work,
): Promise<void> {
  let units = 0
  const run = async (connection: Connection) => {
    while (performance.now() < clock.end && units < unitsMax) {
      units++
      note(await unit(connection, flow, performance.now()), { clock, durations, answered })
    }
  }
  await Promise.all(connections.map(run))
}

const tickMs = 2

/**
 * Open loop: units start by the clock and wait for a free connection; that wait counts as latency.
 * Connections take turns: a server may close one that was idle for long.
 */
async function pace(
  perSecond: number,
  { connections, flow, clock, durations, answered }: Work,
): Promise<void> {
  const free = [...connections]
  const underWay = new Set<Promise<void>>()
  let failure: unknown
  const begin = async (connection: Connection, dueAt: number) => {
    note(await unit(connection, flow, dueAt), { clock, durations, answered })
    free.push(connection)
  }
  let dueAt = performance.now()
  while (performance.now() < clock.end && failure === undefined) {
    while (dueAt <= performance.now() && free.length > 0) {
      const one = begin(free.shift()!, dueAt).catch((error: unknown) => void (failure = error))
      underWay.add(one)
      void one.then(() => underWay.delete(one))
      dueAt += 1_000 / perSecond
    }
    await new Promise((resolve) => setTimeout(resolve, tickMs))
  }
  await Promise.all(underWay)
  if (failure !== undefined) throw failure
}

interface Ended {
  readonly startedAt: number
  readonly endedAt: number
}

type Noting = Pick<Work, 'clock' | 'durations' | 'answered'>

function note({ startedAt, endedAt }: Ended, { clock, durations, answered }: Noting): void {
  answered.units++
  if (endedAt >= clock.begin && endedAt <= clock.end) durations.push(endedAt - startedAt)
}

async function unit(connection: Connection, flow: Flow, startedAt: number): Promise<Ended> {
  const steps = flow()
  let step = steps.next()
  while (!step.done) step = steps.next(await connection.send(step.value))
  return { startedAt, endedAt: performance.now() }
}
