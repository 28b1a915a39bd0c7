import type { Challenges } from '../../../../packages/contract/access/callers.ts'
import { Refusal, refuse, refuseField } from '../../../../packages/contract/refusals.ts'
import type { Dependencies, Request } from '../../../../packages/contract/routes.ts'
import { challenge, type ChallengePurpose } from '../../../../packages/domain/challenges/challenge.ts'
import { hasSecondFactor } from '../../../../packages/domain/users/factors.ts'
import { userSessions } from '../../../../packages/domain/sessions/user-sessions.ts'
import type { ActiveUser } from '../../../../packages/domain/users/user.ts'

interface Proof {
  readonly purpose: ChallengePurpose
  readonly challengeId: string | null | undefined
}

type RequestPart = Pick<Request, 'dependencies' | 'caller' | 'id'>

/** A sign-in proves as much as a challenge, for as long. */
const freshMs = 10 * 60_000
const howTo = 'challengeId is required: ask for one with POST /api/v1/auth/mfa/challenge'

/**
 * Where the specification leaves the challenge open, who has a second factor shows it. Anybody else signed in
 * a moment ago or shows a mailed code, so that a stolen access token makes no way in of its own.
 */
export async function requireProof(
  { dependencies, caller, id: by }: RequestPart,
  { totp, passkeys }: Pick<ActiveUser, 'totp' | 'passkeys'>,
  { purpose, challengeId }: Proof,
): Promise<void> {
  const isWithout = !hasSecondFactor({ totp, passkeys })
  if (!challengeId && isWithout && (await isFresh({ dependencies, caller }))) return
  const hint = isWithout ? `${howTo}, or sign in again` : howTo
  const id = challengeId ?? refuseField('request_must_be_valid', '/challengeId', hint)
  await stepUps(dependencies).consume({ id, purpose, caller, by })
}

/** Whether the session began a moment ago. Renewing it proves nothing. */
async function isFresh({ dependencies, caller }: Omit<RequestPart, 'id'>): Promise<boolean> {
  if (caller.credential !== 'user') return false
  const { executor, clock } = dependencies
  const { active } = (await executor.current(userSessions, caller.user)).state
  const startedAt = active.find(({ id }) => id === caller.session)?.startedAt
  return startedAt !== undefined && clock().getTime() - Date.parse(startedAt) < freshMs
}

/** Challenges of users who are signed in: each proves one thing, once, to the request that consumes it. */
export function stepUps({ executor }: Pick<Dependencies, 'executor'>): Challenges {
  return {
    async consume({ id, purpose, caller, by }) {
      if (caller.credential !== 'user') return refuse('challenge_must_be_verified')
      const data = { purpose: purpose as ChallengePurpose, by }
      const own = { user: caller.user, actor: caller.actor, correlation: by, mustExist: true }
      try {
        await executor.send(challenge, id, { type: 'ConsumeChallenge', data }, own)
      } catch (error) {
        // Somebody else's proves as little as none.
        const isMissing = error instanceof Refusal && error.reason === 'resource_must_exist'
        throw isMissing ? new Refusal('challenge_must_be_verified') : error
      }
    },
  }
}
