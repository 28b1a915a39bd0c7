import { signedInUser } from '../../../packages/contract/access/callers.ts'
import { change, listItems, perform, show } from '../../../packages/contract/routes.ts'
import { section } from '../../../packages/contract/section.ts'
import { ChallengeResource, PasskeyProofRequest } from '../../../packages/domain/challenges/resource.ts'
import {
  passkeyAnswerExamples,
  passkeyCreationExamples,
  passkeyNameExamples,
  passkeyProofExamples,
  passkeyRegistrationExamples,
  passkeySignInExamples,
} from '../../../packages/domain/users/resources/passkey-examples.ts'
import {
  PasskeyAnswer,
  PasskeyCreation,
  PasskeyRegistration,
  PasskeyRemoval,
  PasskeyResource,
  PasskeyRevision,
  PasskeySignIn,
  RemovedPasskey,
  WebauthnOptionsResource,
} from '../../../packages/domain/users/resources/passkey-resources.ts'
import { AuthSessionResource } from '../../../packages/domain/users/resource.ts'
import { user } from '../../../packages/domain/users/user.ts'
import {
  beginProof,
  beginRegistration,
  beginSignIn,
  completeProof,
  completeRegistration,
  completeSignIn,
  passkeyItems,
  removePasskey,
  viewNamedPasskey,
} from '../actions/auth/passkeys.ts'
import { namedInPath } from '../actions/auth/user-accounts.ts'

const open = { scope: 'public' } as const
const own = { scope: 'own', credentials: ['user'], owner: 'user' } as const
const named = { params: { id: 'text' } } as const
const ofUser = {
  ...own,
  ...named,
  subject: signedInUser,
  decider: user,
  view: viewNamedPasskey,
  beside: namedInPath,
  returns: PasskeyResource,
} as const

const rows = [
  perform('POST /api/v1/auth/passkeys/registration/begin', {
    ...own,
    summary: 'Ask what the browser needs to make a passkey; who has a second factor shows it first',
    body: PasskeyCreation,
    examples: passkeyCreationExamples,
    returns: WebauthnOptionsResource,
    refusals: ['challenge_must_be_verified'],
    action: beginRegistration,
  }),

  perform('POST /api/v1/auth/passkeys/registration/complete', {
    ...own,
    summary: 'Register the passkey that the browser has made',
    body: PasskeyRegistration,
    examples: passkeyRegistrationExamples,
    status: 201,
    location: '/api/v1/auth/passkeys/{id}',
    returns: PasskeyResource,
    refusals: [
      'code_must_be_right',
      'challenge_must_be_pending',
      'passkey_must_be_new',
      'passkeys_must_be_within_the_limit',
      'resource_must_exist',
    ],
    action: completeRegistration,
  }),

  perform('POST /api/v1/auth/passkeys/login/begin', {
    ...open,
    summary: 'Ask what the browser needs to sign in; the answer looks alike for addresses that nobody has',
    body: PasskeySignIn,
    examples: passkeySignInExamples,
    returns: WebauthnOptionsResource,
    action: beginSignIn,
  }),

  perform('POST /api/v1/auth/passkeys/login/complete', {
    ...open,
    summary: 'Sign in with what the browser has answered',
    body: PasskeyAnswer,
    examples: passkeyAnswerExamples,
    returns: AuthSessionResource,
    showsSecret: true,
    refusals: ['code_must_be_right', 'challenge_must_be_pending', 'email_and_password_must_be_right'],
    action: completeSignIn,
  }),

  perform('POST /api/v1/auth/passkeys/assertion/begin', {
    ...own,
    summary: 'Ask what the browser needs to prove something with a passkey',
    body: PasskeyProofRequest,
    examples: passkeyProofExamples,
    returns: WebauthnOptionsResource,
    refusals: ['passkey_must_be_registered'],
    action: beginProof,
  }),

  perform('POST /api/v1/auth/passkeys/assertion/complete', {
    ...own,
    summary: 'Prove it: the challenge is then verified',
    body: PasskeyAnswer,
    examples: passkeyAnswerExamples,
    returns: ChallengeResource,
    refusals: ['code_must_be_right', 'challenge_must_be_pending'],
    action: completeProof,
  }),

  listItems('GET /api/v1/auth/passkeys', {
    ...own,
    summary: 'Passkeys of the user, newest first',
    returns: PasskeyResource,
    items: passkeyItems,
  }),

  show('GET /api/v1/auth/passkeys/{id}', { ...ofUser, summary: 'One passkey', inferred: true }),

  change('PATCH /api/v1/auth/passkeys/{id}', {
    ...ofUser,
    summary: 'Rename a passkey',
    body: PasskeyRevision,
    examples: passkeyNameExamples,
    command: 'RenamePasskey',
    data: ({ nickname = null }, _, { id }) => ({ passkey: id!, nickname }),
  }),

  perform('DELETE /api/v1/auth/passkeys/{id}', {
    ...own,
    ...named,
    summary: 'Remove a passkey, with a verified challenge; refused where it is the only way to sign in',
    query: PasskeyRemoval,
    returns: RemovedPasskey,
    refusals: ['challenge_must_be_verified', 'user_must_keep_a_way_to_sign_in'],
    action: removePasskey,
  }),
]

export const authPasskeyRoutes = section(
  'Passkeys',
  'Keys that a telephone, a computer or a security key keeps, and uses for whom it recognises. They sign in without ' +
    'a password, and prove who it is where a challenge is asked for. `public_key` is for `navigator.credentials`.',
  rows,
)
