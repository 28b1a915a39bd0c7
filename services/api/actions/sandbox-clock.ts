import { setTimeout as pause } from 'node:timers/promises'
import { refuse, refuseField } from '../../../packages/contract/refusals.ts'
import type { Request } from '../../../packages/contract/routes.ts'
import type { Static } from '../../../packages/contract/vocabulary.ts'
import {
  viewSandboxClock,
  type SandboxClockMove,
  type SandboxClockResource,
} from '../../../packages/domain/sandbox-clocks/resource.ts'
import {
  sandboxClock,
  sandboxClockId,
  type SandboxClockCommands,
} from '../../../packages/domain/sandbox-clocks/sandbox-clock.ts'
import { readState } from '../../../packages/kernel/history.ts'

type Shown = Static<typeof SandboxClockResource>
type Move = Static<typeof SandboxClockMove>

/**
 * The first move is special: others must learn that there is a clock to look up, which they do within this
 * time by following the log.
 */
const learnedWithinMs = 500

export async function showSandboxClock({ caller, dependencies }: Request): Promise<Shown> {
  if (caller.livemode) refuse('resource_must_exist')
  const { merchant } = caller
  const state = await readState(dependencies.store, sandboxClock, sandboxClockId(merchant))
  return viewSandboxClock({ merchant, state, now: dependencies.clock() })
}

/** Timers due by then run in order, within the following seconds. */
export async function moveSandboxClock(request: Request<Move>): Promise<Shown> {
  const { caller, dependencies, body } = request
  if (caller.livemode) refuse('resource_must_exist')
  const { merchant } = caller
  const command = { type: 'MoveSandboxClock', data: moveOf(body, dependencies.clock()) } as const
  const once = { isWhole: true } as const
  const { state, revision } = await request.send(sandboxClock, sandboxClockId(merchant), command, once)
  dependencies.movedClocks.learn(merchant, { aheadMs: state.aheadMs, revision })
  if (revision === 0) await pause(learnedWithinMs)
  // The time it was moved to, so that a repeat gets the same answer.
  const now = state.movedAt ? new Date(state.movedAt) : dependencies.clock()
  return viewSandboxClock({ merchant, state, now })
}

function moveOf({ advance_seconds, to }: Move, now: Date): SandboxClockCommands['MoveSandboxClock'] {
  if (advance_seconds && !to) return { byMs: advance_seconds * 1_000 }
  if (to && !advance_seconds) return { aheadMs: Math.max(0, Date.parse(to) - now.getTime()) }
  return refuseField('request_must_be_valid', '', 'Give either advance_seconds or to')
}
