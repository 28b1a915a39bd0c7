import { nextRun, type Recurrence } from '../../kernel/time/recurrence.ts'

export interface Period {
  readonly start: string
  readonly end: string
}

/** How a plan's interval is counted. */
export const units = {
  day: { unit: 'day', every: 1 },
  week: { unit: 'week', every: 1 },
  month: { unit: 'month', every: 1 },
  quarter: { unit: 'month', every: 3 },
  year: { unit: 'year', every: 1 },
} as const satisfies Record<string, Pick<Recurrence, 'unit' | 'every'>>

export type Interval = keyof typeof units

export interface Timing {
  readonly start: string
  /** Of the first period; null: an interval after its start. */
  readonly end: string | null
  readonly trialDays: number | null
  readonly interval: Interval
  readonly timeZone: string
}

export interface Schedule {
  readonly recurrence: Recurrence
  readonly first: Period
  readonly trialEnd: string | null
}

/** The first period that is paid for, and how all others follow. */
export function scheduleOf({ start, end, trialDays, interval, timeZone }: Timing): Schedule {
  const always = { count: null, timeZone } as const
  const trialEnd = trialDays
    ? endOf({ ...always, anchor: start, unit: 'day', every: trialDays }, start)
    : null
  const begins = trialEnd ?? start
  const recurrence = { ...always, ...units[interval], anchor: end ?? begins }
  return { recurrence, first: { start: begins, end: end ?? endOf(recurrence, begins) }, trialEnd }
}

/** Periods follow from the anchor: 31 January is followed by 28 February and by 31 March. */
export function endOf(recurrence: Recurrence, start: string): string {
  return nextRun(recurrence, new Date(start))!.toISOString()
}

/** The period that contains this time, at the earliest the one that starts there. */
export function periodAt(recurrence: Recurrence, start: string, time: string): Period {
  let period = { start, end: endOf(recurrence, start) }
  while (period.end <= time) period = { start: period.end, end: endOf(recurrence, period.end) }
  return period
}
