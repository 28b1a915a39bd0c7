import { setTimeout as pause } from 'node:timers/promises'
import type { GiveWay } from '../../infra/event-loop/turns.ts'
import { LeadershipLostError } from '../../infra/postgres/consumers/fence.ts'
import type { TimerShares } from '../../infra/postgres/consumers/timer-shares.ts'
import { ownerText, type Owner } from '../../packages/kernel/owner.ts'
import type { Clock, Log } from '../../packages/kernel/ports.ts'
import type { DueTimer, Timers } from '../../packages/kernel/read-ports.ts'
import { isPassing } from '../composition/failures.ts'
import { forEach } from './for-each.ts'
import type { Process, Tools } from './process.ts'

const lookEveryMs = 200
const perLook = 1_000
const atOnce = 128
/**
 * A timer whose work is done disappears once the read model has seen the event; it is not run again before.
 */
const settleMs = 5_000
const passingFailureMs = 2_000
/** A timer whose work throws is for people to look at; it keeps being retried meanwhile. */
const failureMs = 10 * 60_000

export interface TimerRunnerOptions {
  readonly processes: readonly Process[]
  readonly timers: Timers
  readonly tools: Tools
  readonly log: Log
  /** Throws when another process may be running these timers. */
  readonly assertHeld: () => void
  readonly giveWay?: GiveWay
}

/** A greater delay is logged: nobody ran them, or more timers are due than can be run. */
const lateMsShown = 5_000

/** Runs the due timers of this process's shares until the signal aborts. */
export async function runTimers(
  options: Omit<TimerRunnerOptions, 'assertHeld'>,
  shares: Pick<TimerShares, 'balance' | 'held' | 'assertHeld'>,
  signal: AbortSignal,
): Promise<void> {
  const assertHeld = () => shares.assertHeld()
  while (!signal.aborted) {
    let count = 0
    try {
      await options.tools.dependencies.movedClocks.follow()
      await shares.balance()
      if (shares.held.length > 0) count = await runDue({ ...options, assertHeld })
    } catch (error) {
      // Whoever has the share now continues with them.
      if (!(error instanceof LeadershipLostError)) options.log.warn({ error }, 'timers are tried again')
    }
    if (count < perLook) await pause(lookEveryMs, undefined, { signal }).catch(() => undefined)
  }
}

/** Runs due timers; returns how many. */
export async function runDue(options: TimerRunnerOptions): Promise<number> {
  const { timers, processes, tools, giveWay } = options
  const { clock, movedClocks } = tools.dependencies
  const kinds = processes.flatMap((process) => Object.keys(process.timers ?? {}))
  const ahead = movedClocks.ahead()
  const due = await timers.due(clock(), perLook, { kinds, ahead })
  const moved = new Set(ahead.map(({ merchant }) => merchant))
  const isMoved = (timer: DueTimer<Owner>) =>
    'merchant' in timer && !timer.livemode && moved.has(timer.merchant)
  const noted: Promise<void>[] = []
  await forEach([...lanesOf(due, isMoved)], atOnce, async (lane) => {
    for (const timer of lane) {
      await giveWay?.()
      const timing = isMoved(timer) ? inTimeOf(timer, options) : options
      const until = await run(timing, timer)
      // The next one need not wait for it, so that many attempts are written at a time.
      const note = timers.postpone(timer, until)
      note.catch(() => undefined)
      noted.push(note)
    }
  }).finally(() => Promise.allSettled(noted))
  await Promise.all(noted)
  return due.length
}

/**
 * Timers of one subject run one after the other, in due order. So do all of a merchant whose clock was moved,
 * because many then fall due at once that would have been days apart.
 */
function lanesOf(
  due: readonly DueTimer<Owner>[],
  isMoved: (timer: DueTimer<Owner>) => boolean,
): Iterable<readonly DueTimer<Owner>[]> {
  const lanes = new Map<string, DueTimer<Owner>[]>()
  for (const timer of due) {
    const key = isMoved(timer) ? ownerText(timer) : timer.subject.split('.', 1)[0]!
    const lane = lanes.get(key)
    if (lane) lane.push(timer)
    else lanes.set(key, [timer])
  }
  return lanes.values()
}

/** Returns when it is to run again, unless an event removes it first. */
async function run(options: TimerRunnerOptions, timer: DueTimer<Owner>): Promise<Date> {
  const { processes, tools, log, assertHeld } = options
  assertHeld()
  const lateMs = tools.dependencies.clock().getTime() - Date.parse(timer.dueAt)
  if (lateMs > lateMsShown && timer.attempts === 0)
    log.info({ timer: timer.id, lateMs }, 'a timer fires late')
  const later = (delayMs: number) => new Date(tools.dependencies.clock().getTime() + delayMs)
  const work = processes.find((process) => process.timers && timer.kind in process.timers)?.timers?.[
    timer.kind
  ]
  try {
    if (!work) throw new Error(`nobody here knows timers of the kind ${timer.kind}`)
    return (await work(timer, tools)) ?? later(settleMs)
  } catch (error) {
    const passing = isPassing(error)
    if (!passing) log.error({ timer: timer.id, error }, 'timer failed')
    return later(passing ? passingFailureMs : failureMs)
  }
}

/** The timer's work sees the merchant's time. */
function inTimeOf(timer: DueTimer<Owner>, options: TimerRunnerOptions): TimerRunnerOptions {
  const { tools } = options
  const { dependencies } = tools
  const clock: Clock = (owner) => dependencies.clock(owner ?? timer)
  return { ...options, tools: { ...tools, dependencies: { ...dependencies, clock } } }
}
