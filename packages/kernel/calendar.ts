import { Temporal } from 'temporal-polyfill'

/** A period, from its first moment to the first one after it: RFC 3339 with milliseconds, in UTC. */
export interface Window {
  readonly from: string
  readonly to: string
}

/** The month `2026-10` in a time zone. Throws RangeError for an invalid month or zone. */
export function monthOf(month: string, timeZone: string): Window {
  const first = Temporal.PlainYearMonth.from(month).toPlainDate({ day: 1 })
  return { from: startOf(first, timeZone), to: startOf(first.add({ months: 1 }), timeZone) }
}

/** The day `2026-10-15` in a time zone. */
export function dayOf(day: string, timeZone: string): Window {
  const date = Temporal.PlainDate.from(day)
  return { from: startOf(date, timeZone), to: startOf(date.add({ days: 1 }), timeZone) }
}

function startOf(date: Temporal.PlainDate, timeZone: string): string {
  return new Date(date.toZonedDateTime({ timeZone }).epochMilliseconds).toISOString()
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
    let ahead = this.#ahead.get(hour)
    if (ahead === undefined) {
      const there = Temporal.Instant.fromEpochMilliseconds(hour * hourMs).toZonedDateTimeISO(this.#timeZone)
      this.#ahead.set(hour, (ahead = there.offsetNanoseconds / 1e6))
    }
    return ahead
  }
}
