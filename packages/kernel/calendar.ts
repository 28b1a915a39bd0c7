import { Temporal } from 'temporal-polyfill'

/** A stretch of time, from its first moment to the first after it: RFC 3339 with milliseconds, in UTC. */
export interface Window {
  readonly from: string
  readonly to: string
}

/** The month `2026-10` as a zone counts its days. Throws RangeError for what is no month or no zone. */
export function monthOf(month: string, timeZone: string): Window {
  const first = Temporal.PlainYearMonth.from(month).toPlainDate({ day: 1 })
  return { from: startOf(first, timeZone), to: startOf(first.add({ months: 1 }), timeZone) }
}

/** The day `2026-10-15` there. */
export function dayOf(day: string, timeZone: string): Window {
  const date = Temporal.PlainDate.from(day)
  return { from: startOf(date, timeZone), to: startOf(date.add({ days: 1 }), timeZone) }
}

function startOf(date: Temporal.PlainDate, timeZone: string): string {
  return new Date(date.toZonedDateTime({ timeZone }).epochMilliseconds).toISOString()
}
