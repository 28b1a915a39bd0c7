import type { Challenges } from '../../../packages/contract/callers.ts'
import { Refusal, refuse, refuseField } from '../../../packages/contract/refusals.ts'
import type { Dependencies, Request } from '../../../packages/contract/routes.ts'
import { challenge, type ChallengePurpose } from '../../../packages/domain/challenges/challenge.ts'
import type { ActiveUser } from '../../../packages/domain/users/user.ts'

interface Proof {
  readonly purpose: ChallengePurpose
  readonly challengeId: string | null | undefined
}

/** Where the specification leaves the challenge open, who has a second factor shows it. */
export async function requireProof(
  { dependencies, caller, id: by }: Pick<Request, 'dependencies' | 'caller' | 'id'>,
  { totp, passkeys }: Pick<ActiveUser, 'totp' | 'passkeys'>,
  { purpose, challengeId }: Proof,
): Promise<void> {
  if (!totp && passkeys.length === 0) return
  const id = challengeId ?? refuseField('request_must_be_valid', '/challengeId', 'challengeId is required')
  await stepUps(dependencies).consume({ id, purpose, caller, by })
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
