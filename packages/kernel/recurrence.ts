import { Temporal } from 'temporal-polyfill'

/**
 * A rule for what comes again. Its runs follow from the anchor alone, never from when somebody looks, so
 * every process finds the same ones however late it is.
 */
export interface Recurrence {
  /** RFC 3339: the first run. What a clock in the time zone shows then, it shows at every run. */
  readonly anchor: string
  readonly unit: 'day' | 'week' | 'month' | 'year'
  /** So many units lie between two runs. */
  readonly every: number
  /** How often it runs in all; null: without end. */
  readonly count: number | null
  /** IANA, `Africa/Dakar`. */
  readonly timeZone: string
}

const dayMs = 86_400_000
/** Only to guess which run is near: months and years differ. */
const usualMs: Readonly<Record<Recurrence['unit'], number>> = {
  day: dayMs,
  week: 7 * dayMs,
  month: 30.436875 * dayMs,
  year: 365.2425 * dayMs,
}

/** The first run after that time; the first of all without one. `undefined` when there are no more. */
export function nextRun(recurrence: Recurrence, after?: Date): Date | undefined {
  const run = runsOf(recurrence)
  let ordinal = after ? nearby(recurrence, after) : 0
  if (after) {
    while (ordinal > 0 && run(ordinal - 1) > after) ordinal--
    while (run(ordinal) <= after) ordinal++
  }
  return recurrence.count === null || ordinal < recurrence.count ? run(ordinal) : undefined
}

/** The runs after the one time and up to the other, oldest first. */
export function* runsBetween(recurrence: Recurrence, after: Date | undefined, until: Date): Generator<Date> {
  for (let run = nextRun(recurrence, after); run && run <= until; run = nextRun(recurrence, run)) yield run
}

/**
 * Run n is the anchor and n intervals, not run n - 1 and one: so 31 January is followed by 28 February and
 * then by 31 March. A time that clocks skip moves behind the gap, one that they show twice is the earlier.
 */
function runsOf({ anchor, unit, every, timeZone }: Recurrence): (ordinal: number) => Date {
  const first = Temporal.Instant.from(anchor).toZonedDateTimeISO(timeZone)
  return (ordinal) => new Date(first.add({ [`${unit}s`]: ordinal * every }).epochMilliseconds)
}

function nearby({ anchor, unit, every }: Recurrence, time: Date): number {
  return Math.max(0, Math.floor((time.getTime() - Date.parse(anchor)) / (usualMs[unit] * every)))
}
