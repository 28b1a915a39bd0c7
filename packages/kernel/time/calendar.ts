import { Temporal } from 'temporal-polyfill'

/** A period, from its first moment to the first one after it: RFC 3339 with milliseconds, in UTC. */
export interface Window {
  readonly from: string
  readonly to: string
}

/** How a month is written, `2026-10`. Inferred: of other years there are no books. */
export const monthPattern = '^(19|2[0-9])[0-9]{2}-(0[1-9]|1[0-2])$'

/** The month `2026-10` in a time zone. Throws RangeError for an invalid month or zone. */
export function monthOf(month: string, timeZone: string): Window {
  const first = Temporal.PlainYearMonth.from(month).toPlainDate({ day: 1 })
  return { from: startOf(first, timeZone), to: startOf(first.add({ months: 1 }), timeZone) }
}

/** The day `2026-10-15` in a time zone. */
export function dayOf(day: string, timeZone: string): Window {
  return remembered(windows, `${day} ${timeZone}`, () => {
    const date = Temporal.PlainDate.from(day)
    return { from: startOf(date, timeZone), to: startOf(date.add({ days: 1 }), timeZone) }
  })
}

/** A clock of the zone, which all its callers share: most ask about the same hours. */
export function clockOf(timeZone: string): ZoneClock {
  return remembered(clocks, timeZone, () => new ZoneClock(timeZone))
}

// Time zones are tables of rules, and slow: that cost a twelfth of a renewal.
const windows = new Map<string, Window>()
const clocks = new Map<string, ZoneClock>()
const rememberedMost = 1_000

function remembered<Key, Value>(known: Map<Key, Value>, key: Key, find: () => Value): Value {
  const found = known.get(key)
  if (found !== undefined) return found
  if (known.size >= rememberedMost) known.clear()
  const value = find()
  known.set(key, value)
  return value
}

/** Times are compared as texts, and other years have six digits and a sign: they would come before all. */
function startOf(date: Temporal.PlainDate, timeZone: string): string {
  const start = new Date(date.toZonedDateTime({ timeZone }).epochMilliseconds).toISOString()
  if (!/^\d{4}-/.test(start)) throw new RangeError(`${date.toString()} has no time that can be compared`)
  return start
}

const hourMs = 3_600_000

/** Converts times to days of one zone, quickly: the zone's offset is looked up once for each hour. */
export class ZoneClock {
  readonly #timeZone: string
  /** Milliseconds by which local time is ahead, by hour of UTC. */
  readonly #ahead = new Map<number, number>()

  constructor(timeZone: string) {
    this.#timeZone = timeZone
  }

  /** The day of a time in the zone: `2026-10-15`. */
  dayOf(time: string): string {
    const instant = Date.parse(time)
    return new Date(instant + this.#aheadAt(instant)).toISOString().slice(0, 10)
  }

  /** The time at which clocks in the zone show this: `2026-10-15T08:30:00`. */
  instantOf(local: string): string {
    const shown = Date.parse(`${local}Z`)
    const guess = shown - this.#aheadAt(shown)
    return new Date(shown - this.#aheadAt(guess)).toISOString()
  }

  #aheadAt(instant: number): number {
    const hour = Math.floor(instant / hourMs)
    return remembered(this.#ahead, hour, () => {
      const there = Temporal.Instant.fromEpochMilliseconds(hour * hourMs).toZonedDateTimeISO(this.#timeZone)
      return there.offsetNanoseconds / 1e6
    })
  }
}
