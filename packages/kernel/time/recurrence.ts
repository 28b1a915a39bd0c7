import { Temporal } from 'temporal-polyfill'

/**
 * A recurrence rule. Its runs follow from the anchor alone, never from the time of the call, so every process
 * finds the same ones however late it is.
 */
export interface Recurrence {
  /** RFC 3339: the first run. Every run shows the same local time in the time zone. */
  readonly anchor: string
  readonly unit: 'day' | 'week' | 'month' | 'year'
  /** Number of units between two runs. */
  readonly every: number
  /** Number of runs; null: endless. */
  readonly count: number | null
  /** IANA, `Africa/Dakar`. */
  readonly timeZone: string
}

const dayMs = 86_400_000
/** Approximate, only to guess which run is near: months and years vary. */
const usualMs: Readonly<Record<Recurrence['unit'], number>> = {
  day: dayMs,
  week: 7 * dayMs,
  month: 30.436875 * dayMs,
  year: 365.2425 * dayMs,
}

/** The first run after that time; without one, the very first. `undefined` when there are no more. */
export function nextRun(recurrence: Recurrence, after?: Date): Date | undefined {
  const run = runsOf(recurrence)
  let ordinal = after ? nearby(recurrence, after) : 0
  if (after) {
    while (ordinal > 0 && run(ordinal - 1) > after) ordinal--
    while (run(ordinal) <= after) ordinal++
  }
  return recurrence.count === null || ordinal < recurrence.count ? run(ordinal) : undefined
}

/** The runs after one time up to and including the other, oldest first. */
export function* runsBetween(recurrence: Recurrence, after: Date | undefined, until: Date): Generator<Date> {
  for (let run = nextRun(recurrence, after); run && run <= until; run = nextRun(recurrence, run)) yield run
}

/**
 * Run n is the anchor plus n intervals, not run n - 1 plus one: so 31 January is followed by 28 February and
 * then by 31 March. A local time skipped by a clock change moves past the gap; of one that occurs twice, the
 * earlier counts.
 */
function runsOf({ anchor, unit, every, timeZone }: Recurrence): (ordinal: number) => Date {
  const first = Temporal.Instant.from(anchor).toZonedDateTimeISO(timeZone)
  return (ordinal) => new Date(first.add({ [`${unit}s`]: ordinal * every }).epochMilliseconds)
}

function nearby({ anchor, unit, every }: Recurrence, time: Date): number {
  return Math.max(0, Math.floor((time.getTime() - Date.parse(anchor)) / (usualMs[unit] * every)))
}
