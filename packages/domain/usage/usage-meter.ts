import { derivedId } from '../../contract/identity.ts'
import { record, Type, Uuid } from '../../contract/vocabulary.ts'
import type { Decider, Message } from '../../kernel/decider.ts'
import { stored, type EventsOf } from '../../kernel/event-types.ts'
import { isSettled, nothingTaken, withTaken, type Taken } from '../../kernel/execution/taken-once.ts'
import { MeterKey } from './usage-record.ts'

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
  /**
   * The subscription was canceled, and this is what no period had billed. What is told after that ends it
   * again: `ending` counts how often.
   */
  UsageMeterEnded: stored(
    1,
    record({
      subscription: Uuid,
      meterKey: MeterKey,
      quantity: Count,
      ending: Type.Integer({ minimum: 1 }),
    }),
  ),
}

export type UsageMeterEvents = EventsOf<typeof usageMeterEvents>

export interface UsageMeter {
  readonly taken: Taken
  /** Quantities by period, of those that are not closed. */
  readonly open: Readonly<Record<number, number>>
  readonly closed: UsageMeterEvents['UsagePeriodClosed'] | null
  readonly ended: Ended | null
}

type Ended = Omit<UsageMeterEvents['UsageMeterEnded'], 'quantity'>

export type UsageMeterCommands = {
  CountUsage: { record: string; quantity: number; period: number; position: number }
  /** `most`: what is beyond it is billed with the next period. */
  ClosePeriod: { period: number; most: number }
  EndMeter: { subscription: string; meterKey: string }
}

export const usageMeter: Decider<UsageMeter, UsageMeterCommands, UsageMeterEvents> = {
  category: 'usage_meter',
  events: usageMeterEvents,
  initial: () => ({ taken: nothingTaken, open: {}, closed: null, ended: null }),
  snapshot: { version: 2, every: () => 256 },

  decide: {
    CountUsage({ record, quantity, period: used, position }, { taken, closed, ended }, { cause }) {
      const isByPolicy = cause !== undefined
      if (isSettled(taken, { id: record, position }, isByPolicy)) return []
      // Before the first period that is paid for, use is free.
      if (used === 0) return []
      const period = closed ? Math.max(used, closed.period + 1) : used
      const counted = { record, quantity, period, position, isByPolicy }
      return [
        { type: 'UsageCounted', data: counted },
        ...(ended && quantity > 0 ? [endedWith(quantity, { ...ended, ending: ended.ending + 1 })] : []),
      ]
    },

    ClosePeriod({ period, most }, { open, closed }) {
      if (closed && closed.period >= period) return []
      const quantity = Math.min(sum(upTo(open, period)), most)
      return [{ type: 'UsagePeriodClosed', data: { period, quantity } }]
    },

    EndMeter: (whose, state) =>
      state.ended ? [] : [endedWith(openQuantity(state), { ...whose, ending: 1 })],
  },

  evolve: {
    UsageCounted: (state, { record, quantity, period, position, isByPolicy }) => {
      const total = (state.open[period] ?? 0) + quantity
      const taken = withTaken(state.taken, { id: record, position }, isByPolicy)
      return { ...state, taken, open: { ...state.open, [period]: total } }
    },
    UsagePeriodClosed: ({ open, ...state }, closed) => {
      const next = closed.period + 1
      const rest = sum(upTo(open, closed.period)) - closed.quantity
      const later = Object.fromEntries(Object.entries(open).filter(([number]) => Number(number) >= next))
      const still = rest > 0 ? { ...later, [next]: rest + (open[next] ?? 0) } : later
      return { ...state, open: still, closed }
    },
    UsageMeterEnded: (state, { quantity: _, ...ended }) => ({ ...state, open: {}, ended }),
  },
}

function endedWith(quantity: number, ended: Ended): Message<UsageMeterEvents> {
  return { type: 'UsageMeterEnded', data: { ...ended, quantity } }
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
