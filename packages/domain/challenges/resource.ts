import {
  choice,
  literals,
  maybe,
  nullable,
  record,
  Timestamp,
  Type,
  UnixSeconds,
  Uuid,
} from '../../contract/vocabulary.ts'
import { challengeMethods, challengePurposes, stepUpPurposes } from './challenge.ts'

/** What somebody who is signed in can be asked to prove. */
export const ChallengeRequest = record({ purpose: choice(...stepUpPurposes) })
/** The same to be proved with a passkey. Optional in the specification, and needed all the same. */
export const PasskeyProofRequest = record({ purpose: maybe(choice(...stepUpPurposes)) })
export const ChallengeAnswer = record({
  challengeId: Uuid,
  code: Type.String({
    minLength: 6,
    maxLength: 32,
    description: 'The six digits that were sent or that the authenticator shows, or a recovery code',
  }),
})

export const ChallengeResource = record({
  id: Uuid,
  object: literals('challenge'),
  livemode: Type.Boolean({ description: 'False in sandbox' }),
  created: UnixSeconds,
  purpose: literals(...challengePurposes),
  method: literals(...challengeMethods),
  status: literals('pending', 'verified', 'failed', 'consumed', 'expired'),
  mfa_required: Type.Boolean({ description: 'True where it stands between a password and a session' }),
  destination_hint: nullable(Type.String({ description: 'Where the code was sent, in part' })),
  attempts_left: Type.Integer({ minimum: 0, description: 'How often an answer may still be wrong' }),
  expires_at: Timestamp,
})
