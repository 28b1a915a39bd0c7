import { perform, redirect } from '../../../packages/contract/routes.ts'
import { section } from '../../../packages/contract/section.ts'
import {
  googleBeginningExamples,
  googleCompletionExamples,
  googleConnectionExamples,
  googleDisconnectionExamples,
} from '../../../packages/domain/users/resources/google-examples.ts'
import {
  GoogleAnswer,
  GoogleBeginning,
  GoogleCompletion,
  GoogleConnection,
  GoogleDisconnection,
  OauthRedirectResource,
} from '../../../packages/domain/users/resources/google-resources.ts'
import { MfaStatusResource } from '../../../packages/domain/users/resources/factor-resources.ts'
import {
  beginConnecting,
  beginSignIn,
  comeBack,
  completeConnecting,
  completeSignIn,
  disconnect,
} from '../actions/auth/google.ts'
import { withAdded } from '../actions/auth/google-visits.ts'
import { ChallengeOrSession } from './auth-factors.ts'

const open = { scope: 'public' } as const
const own = { scope: 'own', credentials: ['user'], owner: 'user' } as const
const begins = { returns: OauthRedirectResource, showsSecret: true } as const

const rows = [
  perform('POST /api/v1/auth/google/login', {
    ...open,
    ...begins,
    summary: 'Begin to sign in with Google: where the browser goes',
    body: GoogleBeginning,
    examples: googleBeginningExamples,
    isCostly: true,
    refusals: ['dependency_must_be_available'],
    action: beginSignIn,
  }),

  redirect('GET /api/v1/auth/google/callback', {
    ...open,
    summary: 'Where Google sends the browser, which goes on to `returnUrl` with a code, or with `error`',
    query: GoogleAnswer,
    isCostly: true,
    refusals: ['token_must_be_valid'],
    refusedPage: (_, { dependencies }) => ({
      location: withAdded(dependencies.dashboardUrl, { error: 'invalid_request' }),
    }),
    action: comeBack,
  }),

  perform('POST /api/v1/auth/google/login/complete', {
    ...open,
    summary: 'Sign in with the code that came back; the answer is a challenge where a second factor is on',
    inferred: true,
    body: GoogleCompletion,
    examples: googleCompletionExamples,
    returns: ChallengeOrSession,
    showsSecret: true,
    refusals: ['token_must_be_valid', 'google_account_must_be_known', 'email_and_password_must_be_right'],
    action: completeSignIn,
  }),

  perform('POST /api/v1/auth/google/connect', {
    ...own,
    ...begins,
    summary: 'Begin to connect a Google account; who has a second factor shows it first',
    body: GoogleConnection,
    examples: googleConnectionExamples,
    refusals: [
      'challenge_must_be_verified',
      'google_must_not_be_connected_yet',
      'dependency_must_be_available',
    ],
    action: beginConnecting,
  }),

  perform('POST /api/v1/auth/google/connect/complete', {
    ...own,
    summary: 'Connect the Google account whose code came back; it signs the user in from now on',
    inferred: true,
    body: GoogleCompletion,
    examples: googleCompletionExamples,
    returns: MfaStatusResource,
    refusals: ['token_must_be_valid', 'google_account_must_be_free', 'google_must_not_be_connected_yet'],
    action: completeConnecting,
  }),

  perform('POST /api/v1/auth/google/disconnect', {
    ...own,
    summary: 'Disconnect the Google account; refused where it is the only way to sign in',
    body: GoogleDisconnection,
    examples: googleDisconnectionExamples,
    returns: MfaStatusResource,
    refusals: ['challenge_must_be_verified', 'google_must_be_connected', 'user_must_keep_a_way_to_sign_in'],
    action: disconnect,
  }),
]

export const authGoogleRoutes = section(
  'Google',
  'A Google account signs in whoever has connected it. Both ways lead over Google and back to a page of the ' +
    'dashboard, which completes them with the `code` that came back and the `state` that it has kept.',
  rows,
)
