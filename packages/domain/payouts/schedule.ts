import { literals, type Static } from '../../contract/vocabulary.ts'
import { nextRun, runsBetween, type Recurrence } from '../../kernel/time/recurrence.ts'

export const Frequency = literals('manual', 'daily', 'weekly', 'monthly')

export type Frequency = Static<typeof Frequency>

/** Which payouts leave automatically, and which of them already have. */
export interface Timetable {
  readonly recurrence: Recurrence | null
  /** Runs that an earlier recurrence still owes. */
  readonly overdue: readonly string[]
  /** All runs up to this one are done. */
  readonly ranThrough: string | null
  /** False while only events of the first format are known, which do not record runs. */
  readonly notesRuns: boolean
}

/** Domain model 5.1: scheduled payouts leave at six in the morning, UTC. */
const payoutTime = 'T06:00:00.000Z'

/** Inferred: weekly payouts leave on Mondays, monthly ones on the first. */
const begins: Readonly<Record<Exclude<Frequency, 'manual'>, Pick<Recurrence, 'anchor' | 'unit'>>> = {
  daily: { anchor: `1970-01-01${payoutTime}`, unit: 'day' },
  weekly: { anchor: `1970-01-05${payoutTime}`, unit: 'week' },
  monthly: { anchor: `1970-01-01${payoutTime}`, unit: 'month' },
}

/** The schedule that begins after that time; null when nothing leaves automatically. */
export function scheduleFrom(frequency: Frequency, after: Date): Recurrence | null {
  if (frequency === 'manual') return null
  const always: Recurrence = { ...begins[frequency], every: 1, count: null, timeZone: 'UTC' }
  return { ...always, anchor: nextRun(always, after)!.toISOString() }
}

/** The next run, or one that is overdue; null when there will be none. */
export function nextPayoutRun({ recurrence, overdue, ranThrough }: Timetable): string | null {
  const after = ranThrough === null ? undefined : new Date(ranThrough)
  return overdue[0] ?? (recurrence && nextRun(recurrence, after)!.toISOString())
}

/** Due runs that are not done, oldest first. */
export function duePayoutRuns(timetable: Timetable, now: Date): readonly string[] {
  const { recurrence, overdue, ranThrough, notesRuns } = timetable
  const after = ranThrough === null ? undefined : new Date(ranThrough)
  const own = recurrence ? [...runsBetween(recurrence, after, now)].map((run) => run.toISOString()) : []
  // Inferred: the first format did not record runs, so only the newest of them is made up.
  return notesRuns ? [...overdue, ...own] : own.slice(-1)
}

/** The oldest of them. */
export function duePayoutRun(timetable: Timetable, now: Date): string | undefined {
  if (!timetable.notesRuns) return duePayoutRuns(timetable, now)[0]
  const next = nextPayoutRun(timetable)
  return next !== null && next <= now.toISOString() ? next : undefined
}
