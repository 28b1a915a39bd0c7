import { setTimeout as pause } from 'node:timers/promises'
import { refuseField } from '../../../packages/contract/refusals.ts'
import type { Request } from '../../../packages/contract/routes.ts'
import type { Static } from '../../../packages/contract/vocabulary.ts'
import type { Moment, SandboxClockMove } from '../../../packages/domain/sandbox-clocks/resource.ts'
import type {
  SandboxClock,
  SandboxClockCommands,
} from '../../../packages/domain/sandbox-clocks/sandbox-clock.ts'
import type { Outcome } from '../../../packages/kernel/execution/options.ts'

type RequestPart = Pick<Request, 'caller' | 'dependencies'>
type Move = SandboxClockCommands['MoveSandboxClock']

/**
 * The first move is special: others must learn that there is a clock to look up, which they do within this
 * time by following the log.
 */
const learnedWithinMs = 500

export function realTime({ caller, dependencies }: RequestPart): Moment {
  return { merchant: caller.merchant, now: dependencies.clock() }
}

/** When it was moved, so that a repeat is answered alike. */
export function timeOfMove(request: RequestPart, _: string, { movedAt }: SandboxClock): Moment {
  const moment = realTime(request)
  return movedAt ? { ...moment, now: new Date(movedAt) } : moment
}

/** What is due by then runs in its order, in the seconds that follow. */
export async function learnMove(
  { caller, dependencies }: RequestPart,
  { state, revision }: Outcome<SandboxClock>,
): Promise<void> {
  dependencies.movedClocks.learn(caller.merchant, { aheadMs: state.aheadMs, revision })
  if (revision === 0) await pause(learnedWithinMs)
}

export async function prepareMove({
  body,
  dependencies,
}: Request<Static<typeof SandboxClockMove>>): Promise<Move> {
  const { advance_seconds, to } = body
  if (advance_seconds && !to) return { byMs: advance_seconds * 1_000 }
  if (to && !advance_seconds) return { aheadMs: Math.max(0, Date.parse(to) - dependencies.clock().getTime()) }
  return refuseField('request_must_be_valid', '', 'Give either advance_seconds or to')
}
