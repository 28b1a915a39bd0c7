import { derivedId } from '../../contract/identity.ts'
import { record, Type, Uuid } from '../../contract/vocabulary.ts'
import type { Decider } from '../../kernel/decider.ts'
import { stored, type EventsOf } from '../../kernel/event-types.ts'
import { isSettled, nothingTaken, withTaken, type Taken } from '../../kernel/taken-once.ts'

const Count = Type.Integer({ minimum: 0 })

/** What was used of one meter of a subscription. */
export const usageMeterEvents = {
  /** `period` is the one in which it is billed; `position` that of the event that has recorded it. */
  UsageCounted: stored(
    1,
    record({ record: Uuid, quantity: Count, period: Count, position: Count, isByPolicy: Type.Boolean() }),
  ),
  /** The period is billed with this quantity. What is told later is billed with the next one. */
  UsagePeriodClosed: stored(1, record({ period: Count, quantity: Count })),
}

export type UsageMeterEvents = EventsOf<typeof usageMeterEvents>

export interface UsageMeter {
  readonly taken: Taken
  /** Quantities by period, of those that are not closed. */
  readonly open: Readonly<Record<number, number>>
  readonly closed: UsageMeterEvents['UsagePeriodClosed'] | null
}

export type UsageMeterCommands = {
  CountUsage: { record: string; quantity: number; period: number; position: number }
  /** `most`: what is beyond it is billed with the next period. */
  ClosePeriod: { period: number; most: number }
}

export const usageMeter: Decider<UsageMeter, UsageMeterCommands, UsageMeterEvents> = {
  category: 'usage_meter',
  events: usageMeterEvents,
  initial: () => ({ taken: nothingTaken, open: {}, closed: null }),
  snapshot: { version: 1, every: () => 256 },

  decide: {
    CountUsage({ record, quantity, period: used, position }, { taken, closed }, { cause }) {
      const isByPolicy = cause !== undefined
      if (isSettled(taken, { id: record, position }, isByPolicy)) return []
      const period = closed ? Math.max(used, closed.period + 1) : used
      return [{ type: 'UsageCounted', data: { record, quantity, period, position, isByPolicy } }]
    },

    ClosePeriod({ period, most }, { open, closed }) {
      if (closed && closed.period >= period) return []
      const quantity = Math.min(sum(upTo(open, period)), most)
      return [{ type: 'UsagePeriodClosed', data: { period, quantity } }]
    },
  },

  evolve: {
    UsageCounted: ({ taken, open, closed }, { record, quantity, period, position, isByPolicy }) => {
      const total = (open[period] ?? 0) + quantity
      const told = { id: record, position }
      return { taken: withTaken(taken, told, isByPolicy), open: { ...open, [period]: total }, closed }
    },
    UsagePeriodClosed: ({ taken, open }, closed) => {
      const next = closed.period + 1
      const rest = sum(upTo(open, closed.period)) - closed.quantity
      const later = Object.fromEntries(Object.entries(open).filter(([number]) => Number(number) >= next))
      return { taken, open: rest > 0 ? { ...later, [next]: rest + (open[next] ?? 0) } : later, closed }
    },
  },
}

/** What is not billed yet. */
export function openQuantity({ open }: UsageMeter): number {
  return sum(Object.entries(open))
}

function upTo(open: UsageMeter['open'], period: number) {
  return Object.entries(open).filter(([number]) => Number(number) <= period)
}

function sum(quantities: readonly (readonly [string, number])[]): number {
  return quantities.reduce((total, [, quantity]) => total + quantity, 0)
}

/** Each meter of a subscription is a stream. */
export function meterId(subscription: string, meterKey: string): string {
  return derivedId(subscription, `meter ${meterKey}`)
}
