import { literals, maybe, record, Timestamp, Type, type Static } from '../../contract/vocabulary.ts'
import type { NamedExamples } from '../../contract/routes.ts'
import { aheadMsMax, type SandboxClock } from './sandbox-clock.ts'

/** Exactly one of the two. */
export const SandboxClockMove = record({
  advance_seconds: maybe(
    Type.Integer({ minimum: 1, maximum: aheadMsMax / 1_000, description: 'So much later than it is' }),
  ),
  to: maybe(Type.String({ format: 'date-time', description: 'RFC 3339; not before what the clock shows' })),
})

export const sandboxClockExamples: NamedExamples = {
  month: { summary: 'A month later', value: { advance_seconds: 30 * 86_400 } },
  date: { summary: 'At a time', value: { to: '2027-01-31T06:00:00.000Z' } },
}

export const SandboxClockResource = record({
  id: Type.String({ description: "The merchant's id" }),
  object: literals('test_clock'),
  livemode: Type.Literal(false),
  now: Timestamp,
  ahead_seconds: Type.Integer({
    minimum: 0,
    description: 'How far this time is ahead of real time; it goes on from there',
  }),
})

export interface Moment {
  readonly merchant: string
  /** Real time. */
  readonly now: Date
}

export function viewSandboxClock(
  _: string,
  state: SandboxClock,
  { merchant, now }: Moment,
): Static<typeof SandboxClockResource> {
  return {
    id: merchant,
    object: 'test_clock',
    livemode: false,
    now: new Date(now.getTime() + state.aheadMs).toISOString(),
    ...viewClockMoves('', state),
  }
}

/** What of it only a move changes. */
export function viewClockMoves(_: string, { aheadMs }: SandboxClock) {
  return { ahead_seconds: Math.floor(aheadMs / 1_000) }
}
