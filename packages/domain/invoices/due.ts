import { clockOf, dayOf } from '../../kernel/time/calendar.ts'

/** Domain model 4. */
const dueAfterDays = 30
const unpaidAfterDays = 21
/** After the due day. Inferred: in the morning there. */
const remindedAfterDays = [3, 7, 14] as const
const remindedAt = '09:00:00'
const dayMs = 86_400_000

/** The days of an invoice are those of its merchant. */
export interface DueDay {
  /** `2026-01-31` */
  readonly dueDate: string
  readonly timeZone: string
}

/** Inferred: for longer nobody waits, and what follows a later day might have no date. */
const dueWithinDays = 3_653

export function latestDueDate(from: string): string {
  return daysAfter(from, dueWithinDays)
}

export function today(timeZone: string, now: Date): string {
  return clockOf(timeZone).dayOf(now.toISOString())
}

/** The day on which an invoice is due where nobody says otherwise. */
export function usualDueDate(timeZone: string, now: Date): string {
  return daysAfter(today(timeZone, now), dueAfterDays)
}

/** The whole due day is left to pay. */
export function overdueFrom({ dueDate, timeZone }: DueDay): string {
  return dayOf(dueDate, timeZone).to
}

/** When its subscription is no longer renewed. */
export function unpaidFrom({ dueDate, timeZone }: DueDay): string {
  return dayOf(daysAfter(dueDate, unpaidAfterDays), timeZone).from
}

export function firstReminderAt(day: DueDay): string {
  return reminderAt(day, remindedAfterDays[0])
}

/** The next time from now on; null after the last one. What was missed is not made up in one go. */
export function nextReminderAt(day: DueDay, now: Date): string | null {
  const times = remindedAfterDays.map((days) => reminderAt(day, days))
  return times.find((time) => time > now.toISOString()) ?? null
}

function reminderAt({ dueDate, timeZone }: DueDay, days: number): string {
  return clockOf(timeZone).instantOf(`${daysAfter(dueDate, days)}T${remindedAt}`)
}

export function daysAfter(day: string, days: number): string {
  return new Date(Date.parse(`${day}T00:00:00.000Z`) + days * dayMs).toISOString().slice(0, 10)
}
