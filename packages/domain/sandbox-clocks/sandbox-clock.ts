import { refuseField } from '../../contract/refusals.ts'
import { derivedId } from '../../contract/identity.ts'
import { record, Type } from '../../contract/vocabulary.ts'
import type { Decider } from '../../kernel/decider.ts'
import { stored, type EventsOf } from '../../kernel/event-types.ts'

/** Inferred: far enough for yearly subscriptions, near enough for any calendar. */
export const aheadMsMax = 5 * 366 * 86_400_000

export const sandboxClockEvents = {
  /** How far the merchant's sandbox time is ahead of real time. */
  SandboxClockMoved: stored(1, record({ aheadMs: Type.Integer({ minimum: 0 }) })),
}

export type SandboxClockEvents = EventsOf<typeof sandboxClockEvents>

export interface SandboxClock {
  readonly aheadMs: number
  /** In real time; null for a clock that was never moved. */
  readonly movedAt: string | null
}

export type SandboxClockCommands = {
  MoveSandboxClock: { byMs: number } | { aheadMs: number }
}

/** A merchant's sandbox time, which runs on from wherever it is moved to. */
export const sandboxClock: Decider<SandboxClock, SandboxClockCommands, SandboxClockEvents> = {
  category: 'sandbox_clock',
  time: 'real',
  events: sandboxClockEvents,
  initial: () => ({ aheadMs: 0, movedAt: null }),

  decide: {
    MoveSandboxClock(move, state) {
      const pointer = 'byMs' in move ? '/advance_seconds' : '/to'
      const aheadMs = 'byMs' in move ? state.aheadMs + move.byMs : move.aheadMs
      if (aheadMs < state.aheadMs)
        refuseField('request_must_be_valid', pointer, 'must not be in the past: the clock only goes forward')
      if (aheadMs > aheadMsMax)
        refuseField('request_must_be_valid', pointer, 'must not be more than 5 years ahead of real time')
      return aheadMs === state.aheadMs ? [] : [{ type: 'SandboxClockMoved', data: { aheadMs } }]
    },
  },

  evolve: {
    SandboxClockMoved: (_, { aheadMs }, { at }) => ({ aheadMs, movedAt: at }),
  },
}

const clockIds = '0f7a1c52-6c1e-5f0c-9d61-2f1f2b8b7a53'

export function sandboxClockId(merchant: string): string {
  return derivedId(clockIds, merchant)
}
