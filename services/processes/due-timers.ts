import { setTimeout as pause } from 'node:timers/promises'
import { LeadershipLostError } from '../../infra/postgres/consumers/fence.ts'
import type { Log } from '../../packages/kernel/ports.ts'
import type { DueTimer, Timers } from '../../packages/kernel/read-ports.ts'
import { isPassing } from '../composition/failures.ts'
import type { Process, Tools } from './process.ts'
import { forEach } from './reactions.ts'

const lookEveryMs = 200
const perLook = 500
const atOnce = 128
/**
 * A timer that has done its work is gone once the read model has seen the event; until then it is not run
 * again.
 */
const settleMs = 5_000
const passingFailureMs = 2_000
/** A timer whose work throws is looked at by people; it is not given up meanwhile. */
const failureMs = 10 * 60_000

export interface TimerRunnerOptions {
  readonly processes: readonly Process[]
  readonly timers: Timers
  readonly tools: Tools
  readonly log: Log
  /** Throws when another process may be leading. */
  readonly assertLeading: () => void
}

/** Runs what is due until the signal aborts. */
export async function runTimers(options: TimerRunnerOptions, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    let count = 0
    try {
      count = await runDue(options)
    } catch (error) {
      // Whoever leads now goes on with them, and this process is about to stop.
      if (!(error instanceof LeadershipLostError)) options.log.warn({ error }, 'timers are tried again')
    }
    if (count < perLook) await pause(lookEveryMs, undefined, { signal }).catch(() => undefined)
  }
}

/** Runs what is due now; answers how many timers that were. */
export async function runDue(options: TimerRunnerOptions): Promise<number> {
  const due = await options.timers.due(options.tools.dependencies.clock(), perLook)
  await forEach(due, atOnce, (timer) => run(options, timer))
  return due.length
}

async function run(options: TimerRunnerOptions, timer: DueTimer): Promise<void> {
  const { processes, timers, tools, log, assertLeading } = options
  assertLeading()
  const later = (delayMs: number) => new Date(tools.dependencies.clock().getTime() + delayMs)
  const work = processes.find((process) => process.timers && timer.kind in process.timers)?.timers?.[
    timer.kind
  ]
  try {
    if (!work) throw new Error(`nobody here knows timers of the kind ${timer.kind}`)
    await timers.postpone(timer, (await work(timer, tools)) ?? later(settleMs))
  } catch (error) {
    const passing = isPassing(error)
    if (!passing) log.error({ timer: timer.id, error }, 'timer failed')
    await timers.postpone(timer, later(passing ? passingFailureMs : failureMs))
  }
}
