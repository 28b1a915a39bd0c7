import { signedInUser } from '../../../packages/contract/access/callers.ts'
import { change, perform, show } from '../../../packages/contract/routes.ts'
import { section } from '../../../packages/contract/section.ts'
import { Type } from '../../../packages/contract/vocabulary.ts'
import {
  answerExamples,
  challengeExamples,
  proofExamples,
  provenPasswordExamples,
  totpBeginningExamples,
  totpExamples,
} from '../../../packages/domain/users/resources/factor-examples.ts'
import { challenge } from '../../../packages/domain/challenges/challenge.ts'
import {
  ChallengeAnswer,
  ChallengeRequest,
  ChallengeResource,
} from '../../../packages/domain/challenges/resource.ts'
import {
  ChallengeProof,
  MfaStatusResource,
  ProvenPasswordChange,
  RecoveryCodesResource,
  TotpBeginning,
  TotpCode,
  TotpSetupResource,
} from '../../../packages/domain/users/resources/factor-resources.ts'
import { tokenExamples } from '../../../packages/domain/users/examples.ts'
import {
  AcknowledgementResource,
  AuthSessionResource,
  TokenRequest,
} from '../../../packages/domain/users/resource.ts'
import { user } from '../../../packages/domain/users/user.ts'
import { answerChallenge, askForChallenge, viewChallengeIfAny } from '../actions/auth/challenges.ts'
import { now } from '../actions/webhooks/webhook-endpoints.ts'
import {
  enableTotp,
  generateRecoveryCodes,
  setUpTotp,
  undoFactors,
  viewFactors,
} from '../actions/auth/second-factors.ts'
import { changePasswordProven } from '../actions/auth/users.ts'

const open = { scope: 'public' } as const
const own = { scope: 'own', credentials: ['user'], owner: 'user' } as const
const factors = {
  ...own,
  subject: signedInUser,
  decider: user,
  view: viewFactors,
  returns: MfaStatusResource,
} as const
const acknowledges = { returns: AcknowledgementResource } as const

/** What a correct password leads to: a session, or the question for a second factor. */
export const ChallengeOrSession = Type.Union([ChallengeResource, AuthSessionResource], {
  'x-name': 'ChallengeOrSession',
})

const rows = [
  show('GET /api/v1/auth/mfa', {
    ...factors,
    summary: 'Second factors, and how many recovery codes are left',
  }),

  perform('POST /api/v1/auth/mfa/challenge', {
    ...own,
    summary: 'Ask for a second proof: a code of the authenticator, or one that is mailed where there is none',
    body: ChallengeRequest,
    examples: challengeExamples,
    status: 201,
    location: '/api/v1/auth/mfa/challenges/{id}',
    returns: ChallengeResource,
    refusals: ['rate_must_be_within_the_limit'],
    action: askForChallenge,
  }),

  show('GET /api/v1/auth/mfa/challenges/{id}', {
    ...own,
    summary: 'Where a challenge stands',
    inferred: true,
    params: { id: 'challenge' },
    decider: challenge,
    view: viewChallengeIfAny,
    beside: now,
    returns: ChallengeResource,
  }),

  perform('POST /api/v1/auth/mfa/verify', {
    ...open,
    summary: 'Answer a challenge with a code; for signing in, the answer is a session',
    body: ChallengeAnswer,
    examples: answerExamples,
    returns: ChallengeOrSession,
    showsSecret: true,
    refusals: [
      'code_must_be_right',
      'challenge_must_be_pending',
      'sign_in_must_not_be_locked',
      'email_and_password_must_be_right',
    ],
    action: answerChallenge,
  }),

  perform('POST /api/v1/auth/mfa/totp/setup', {
    ...own,
    summary: 'Begin with an authenticator; takes the place of an unfinished setup',
    body: TotpBeginning,
    examples: totpBeginningExamples,
    status: 201,
    returns: TotpSetupResource,
    showsSecret: true,
    refusals: ['totp_must_be_off', 'challenge_must_be_verified', 'totp_setup_must_be_the_newest'],
    action: setUpTotp,
  }),

  perform('POST /api/v1/auth/mfa/totp/verify', {
    ...own,
    summary: 'Prove the new authenticator with a code, which turns it on and shows recovery codes once',
    body: TotpCode,
    examples: totpExamples,
    returns: RecoveryCodesResource,
    showsSecret: true,
    refusals: ['code_must_be_right', 'totp_must_be_off', 'totp_setup_must_be_the_newest'],
    action: enableTotp,
  }),

  perform('POST /api/v1/auth/mfa/undo', {
    ...open,
    ...acknowledges,
    summary:
      'Remove a factor, and all that was added after it, with the token that was mailed; ends all sessions',
    inferred: true,
    body: TokenRequest,
    examples: tokenExamples,
    refusals: ['token_must_be_valid'],
    action: undoFactors,
  }),

  change('POST /api/v1/auth/mfa/totp/disable', {
    ...factors,
    summary: 'Turn the authenticator off, with a verified challenge',
    challenge: 'disable_totp',
    body: ChallengeProof,
    examples: proofExamples,
    command: 'DisableTotp',
    data: () => ({}),
  }),

  perform('POST /api/v1/auth/mfa/recovery-codes', {
    ...own,
    summary: 'Replace the recovery codes, with a verified challenge; they are shown once',
    challenge: 'recovery_codes',
    body: ChallengeProof,
    examples: proofExamples,
    status: 201,
    returns: RecoveryCodesResource,
    showsSecret: true,
    refusals: ['totp_must_be_on'],
    action: generateRecoveryCodes,
  }),

  perform('POST /api/v1/auth/change-password-mfa', {
    ...own,
    ...acknowledges,
    summary: 'Change the password with a verified challenge instead of the current one',
    challenge: 'change_password',
    body: ProvenPasswordChange,
    examples: provenPasswordExamples,
    refusals: ['password_must_be_hard_to_guess'],
    action: changePasswordProven,
  }),
]

export const authFactorRoutes = section(
  'Second factors',
  'What is asked for beside a password: codes of an authenticator, or mailed ones where there is none. A challenge ' +
    'that was answered stands for one change, once, for ten minutes.',
  rows,
)
