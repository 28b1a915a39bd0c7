import { setTimeout as pause } from 'node:timers/promises'
import type { GiveWay } from '../../../infra/event-loop/turns.ts'
import { LeadershipLostError } from '../../../infra/postgres/consumers/fence.ts'
import type { TimerShares } from '../../../infra/postgres/consumers/timer-shares.ts'
import { ownerText, type Owner } from '../../../packages/kernel/owner.ts'
import type { Clock, Log } from '../../../packages/kernel/ports.ts'
import type { DueTimer, Timers } from '../../../packages/kernel/ports/reads.ts'
import { isPassing } from '../../composition/observing/failures.ts'
import type { FailingTimers } from './failing-timers.ts'
import { forEach } from './for-each.ts'
import { subjectOf, type HangingLanes } from './hanging-lanes.ts'
import type { Process, Tools } from './process.ts'
import type { TimerPace } from './timer-pace.ts'

const lookEveryMs = 200
const perLook = 1_000
const atOnce = 128
const timersModel = 'timers'
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
  /** Keeps timers from running far ahead of what follows from their work. */
  readonly pace?: Pick<TimerPace, 'keep'>
  /** Notes passing failures, which may not pass. */
  readonly failing?: Pick<FailingTimers, 'failed' | 'worked'>
  /** Left out: a look ends with the last of its timers. */
  readonly hanging?: HangingLanes
}

/** A greater delay is logged: nobody ran them, or more timers are due than can be run. */
const lateMsShown = 5_000

/** Runs the due timers of this process's shares until the signal aborts. */
export async function runTimers(
  options: Omit<TimerRunnerOptions, 'assertHeld'> & Required<Pick<TimerRunnerOptions, 'hanging'>>,
  shares: Pick<TimerShares, 'balance' | 'held' | 'assertHeld'>,
  signal: AbortSignal,
): Promise<void> {
  const assertHeld = () => shares.assertHeld()
  const { hanging } = options
  const { executor } = options.tools.dependencies
  while (!signal.aborted) {
    let isFull = false
    try {
      await options.tools.dependencies.movedClocks.follow()
      await shares.balance({ busySince: hanging.busySince })
      const look = shares.held.length > 0 ? await runDue({ ...options, assertHeld }) : undefined
      isFull = look?.isFull === true
      if (look && look.ran >= perLook) await options.pace?.keep(executor.position, signal)
    } catch (error) {
      // Whoever has the share now continues with them.
      if (!(error instanceof LeadershipLostError)) options.log.warn({ error }, 'timers are tried again')
    }
    if (!isFull) await pause(lookEveryMs, undefined, { signal }).catch(() => undefined)
  }
  await hanging.settled()
}

interface Look {
  /** How many timers were handed out; those of lanes that hang have not run. */
  readonly ran: number
  /** More may be due at once. */
  readonly isFull: boolean
}

/** Runs the timers that are due. */
export async function runDue(options: TimerRunnerOptions): Promise<Look> {
  const held = options.timers.asHeldNow()
  const found = await find(options)
  const { due, isMoved } = found
  const looking: Looking = { options, held, isMoved, noted: [], putOff: [], ran: 0, ranMoved: false }
  await runLanes(lanesOf(found), looking).finally(() => Promise.allSettled(looking.noted))
  await Promise.all(looking.noted)
  return { ran: due.length, isFull: (due.length >= perLook && looking.ran > 0) || looking.ranMoved }
}

interface Looking extends Pick<Found, 'isMoved'> {
  readonly options: TimerRunnerOptions
  readonly held: Pick<Timers, 'postpone'>
  readonly noted: Promise<void>[]
  /** Lanes of whose kind and owner too many are under way. */
  readonly putOff: Found['due'][]
  ran: number
  ranMoved: boolean
}

/** What was put off is gone on with at once, but not for long, because others may be due by now. */
async function runLanes(lanes: readonly Found['due'][], looking: Looking): Promise<void> {
  const begunAt = performance.now()
  const { hanging } = looking.options
  for (let [next, ran] = [lanes, -1]; next.length > 0 && looking.ran > ran; next = looking.putOff.splice(0)) {
    ran = looking.ran
    await forEach(next, atOnce, (lane) => runLane(lane, looking))
    if (!hanging?.isPatientSince(begunAt)) return
  }
}

/** One after the other. Where one hangs, those behind it wait for a later look. */
async function runLane(lane: Found['due'], looking: Looking): Promise<void> {
  const { options, isMoved } = looking
  const { timers, giveWay, hanging } = options
  for (const [index, timer] of lane.entries()) {
    await giveWay?.()
    if (!isMoved(timer) && hanging?.isFull(timer)) return void looking.putOff.push(lane.slice(index))
    looking.ran++
    looking.ranMoved ||= isMoved(timer)
    const work = run(isMoved(timer) ? inTimeOf(timer, options) : options, timer)
    if (await hanging?.isOverdue(timer, work)) {
      hanging!.leave(timer, whenOver(looking, timer, work))
      return
    }
    // The next one need not wait for it, so that many attempts are written at a time.
    const noted = timers.postpone(timer, await work)
    noted.catch(() => undefined)
    looking.noted.push(noted)
  }
}

async function whenOver(
  { held, options: { log } }: Looking,
  timer: DueTimer<Owner>,
  work: Promise<Date>,
): Promise<void> {
  try {
    await held.postpone(timer, await work)
  } catch (error) {
    // Whoever has the share now continues with it.
    if (!(error instanceof LeadershipLostError))
      log.warn({ timer: timer.id, error }, 'the timer is run again')
  }
}

interface Found {
  readonly due: readonly DueTimer<Owner>[]
  /** Whether its merchant's clock is ahead. */
  isMoved(timer: DueTimer<Owner>): boolean
}

/**
 * Of a merchant whose clock was moved, only the earliest ones, and only when the read model knows what all
 * before them have started: that may come before what is next now.
 */
async function find({ timers, processes, tools, hanging }: TimerRunnerOptions): Promise<Found> {
  const { clock, movedClocks, reads, store } = tools.dependencies
  const kinds = processes.flatMap((process) => Object.keys(process.timers ?? {}))
  const ahead = movedClocks.ahead()
  const moved = new Set(ahead.map(({ merchant }) => merchant))
  const isMoved = (timer: DueTimer<Owner>) =>
    'merchant' in timer && !timer.livemode && moved.has(timer.merchant)
  const wanted = { kinds, ahead, ...hanging?.waiting(moved) }
  const due = await timers.due(clock(), perLook, wanted)
  if (!due.some(isMoved)) return { due, isMoved }
  const isKnown = await reads.reached(await store.head(), lookEveryMs, timersModel)
  const current = isKnown ? await timers.due(clock(), perLook, wanted) : due
  const earliest = new Map<string, string>()
  const isNext = (timer: DueTimer<Owner>) => {
    if (!isMoved(timer)) return true
    const owner = ownerText(timer)
    if (!earliest.has(owner)) earliest.set(owner, timer.dueAt)
    return isKnown && earliest.get(owner) === timer.dueAt
  }
  return { due: current.filter(isNext), isMoved }
}

/** Timers of one subject run one after the other; those of a merchant whose clock is ahead, all of them. */
function lanesOf({ due, isMoved }: Found): readonly Found['due'][] {
  const lanes = new Map<string, DueTimer<Owner>[]>()
  for (const timer of due) {
    const key = isMoved(timer) ? ownerText(timer) : subjectOf(timer)
    const lane = lanes.get(key)
    if (lane) lane.push(timer)
    else lanes.set(key, [timer])
  }
  // What has been tried in vain keeps nothing back that is due for the first time.
  const isRetry = ([first]: Found['due']) => Number(first!.attempts > 0)
  return [...lanes.values()].sort((one, other) => isRetry(one) - isRetry(other))
}

/** Returns when it is to run again, unless an event removes it first. */
async function run(options: TimerRunnerOptions, timer: DueTimer<Owner>): Promise<Date> {
  const { processes, tools, log, assertHeld, failing } = options
  assertHeld()
  const lateMs = tools.dependencies.clock().getTime() - Date.parse(timer.dueAt)
  // What falls due because a clock was moved is late for nobody.
  if (lateMs > lateMsShown && timer.attempts === 0 && !tools.onePeriod)
    log.info({ timer: timer.id, lateMs }, 'a timer fires late')
  const later = (delayMs: number) => new Date(tools.dependencies.clock().getTime() + delayMs)
  const work = processes.find((process) => process.timers && timer.kind in process.timers)?.timers?.[
    timer.kind
  ]
  try {
    if (!work) throw new Error(`nobody here knows timers of the kind ${timer.kind}`)
    const until = await work(timer, tools)
    failing?.worked(timer)
    return until ?? later(settleMs)
  } catch (error) {
    if (isPassing(error)) return later(failing?.failed(timer, error) ?? passingFailureMs)
    log.error({ timer: timer.id, error }, 'timer failed')
    return later(failureMs)
  }
}

/** The timer's work sees the merchant's time. */
function inTimeOf(timer: DueTimer<Owner>, options: TimerRunnerOptions): TimerRunnerOptions {
  const { tools } = options
  const { dependencies } = tools
  const clock: Clock = (owner) => dependencies.clock(owner ?? timer)
  return { ...options, tools: { ...tools, onePeriod: true, dependencies: { ...dependencies, clock } } }
}
