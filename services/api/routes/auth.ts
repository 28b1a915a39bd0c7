import { signedInUser } from '../../../packages/contract/access/callers.ts'
import { change, listItems, perform, show } from '../../../packages/contract/routes.ts'
import { section } from '../../../packages/contract/section.ts'
import {
  addressExamples,
  passwordChangeExamples,
  passwordResetExamples,
  refreshExamples,
  registrationExamples,
  signInExamples,
  tokenExamples,
} from '../../../packages/domain/users/examples.ts'
import { userSessions } from '../../../packages/domain/sessions/user-sessions.ts'
import {
  AcknowledgementResource,
  AddressRequest,
  AuthSessionResource,
  EndedSession,
  MeResource,
  PasswordChangeRequest,
  PasswordResetRequest,
  RefreshRequest,
  RegistrationRequest,
  SessionResource,
  SignInRequest,
  TokenRequest,
} from '../../../packages/domain/users/resource.ts'
import { ChallengeOrSession } from './auth-factors.ts'
import { login } from '../actions/auth/sign-in.ts'
import { register } from '../actions/auth/sign-up.ts'
import {
  acknowledged,
  askedSession,
  changePassword,
  forgotPassword,
  logout,
  me,
  prepareEndOfOthers,
  refresh,
  resendVerification,
  resetPassword,
  sessionItems,
  verifyEmail,
  viewAskedSession,
  viewEndedSession,
} from '../actions/auth/users.ts'
import { namedInPath } from '../actions/auth/user-accounts.ts'

/** Anybody may call it: who is asked for is found out by what the body proves. */
const open = { scope: 'public' } as const
const own = { scope: 'own', credentials: ['user'], owner: 'user' } as const
const ofSessions = {
  ...own,
  subject: signedInUser,
  decider: userSessions,
} as const
const signsIn = { returns: AuthSessionResource, showsSecret: true } as const
const acknowledges = { returns: AcknowledgementResource } as const

const signingIn = [
  perform('POST /api/v1/auth/register', {
    ...open,
    ...signsIn,
    summary: 'Create a user with an organization and a merchant; the sandbox can be used at once',
    body: RegistrationRequest,
    examples: registrationExamples,
    status: 201,
    location: '/api/v1/auth/sessions/{id}',
    refusals: ['email_must_be_free', 'password_must_be_hard_to_guess', 'challenge_must_be_verified'],
    action: register,
  }),

  perform('POST /api/v1/auth/login', {
    ...open,
    returns: ChallengeOrSession,
    showsSecret: true,
    summary: 'Sign in with e-mail and password; the answer is a challenge where a second factor is on',
    body: SignInRequest,
    examples: signInExamples,
    refusals: ['email_and_password_must_be_right', 'sign_in_must_not_be_locked'],
    action: login,
  }),

  perform('POST /api/v1/auth/refresh', {
    ...open,
    ...signsIn,
    summary: 'Exchange a refresh token for a new pair; a token that was spent before ends the session',
    body: RefreshRequest,
    examples: refreshExamples,
    refusals: ['token_must_be_valid'],
    action: refresh,
  }),

  perform('POST /api/v1/auth/logout', {
    ...own,
    ...acknowledges,
    summary: 'End this session; its tokens stop working',
    action: logout,
  }),
]

const sessions = [
  perform('GET /api/v1/auth/me', {
    ...own,
    summary: 'Who is signed in, for which merchant and as what',
    returns: MeResource,
    action: me,
  }),

  listItems('GET /api/v1/auth/sessions', {
    ...ofSessions,
    summary: 'Sessions that go on, with device, place and time of last use',
    returns: SessionResource,
    items: sessionItems,
  }),

  change('DELETE /api/v1/auth/sessions', {
    ...ofSessions,
    ...acknowledges,
    summary: 'End every session but this one',
    command: 'EndSessions',
    prepare: prepareEndOfOthers,
    view: () => acknowledged('All other sessions have ended'),
  }),

  show('GET /api/v1/auth/sessions/{id}', {
    ...ofSessions,
    summary: 'One session',
    inferred: true,
    params: { id: 'user_session' },
    view: viewAskedSession,
    beside: askedSession,
    returns: SessionResource,
  }),

  change('DELETE /api/v1/auth/sessions/{id}', {
    ...ofSessions,
    summary: 'End one session',
    params: { id: 'user_session' },
    command: 'EndSession',
    data: (_, __, { id }) => ({ session: id!, reason: 'ended_by_user' }),
    view: viewEndedSession,
    beside: namedInPath,
    returns: EndedSession,
  }),
]

const addressAndPassword = [
  perform('POST /api/v1/auth/verify-email', {
    ...open,
    ...acknowledges,
    credentials: ['nobody', 'user'],
    owner: 'user',
    summary:
      'Confirm the e-mail address with the token that was mailed; without a session of its user, password and factors are removed',
    body: TokenRequest,
    examples: tokenExamples,
    refusals: ['token_must_be_valid'],
    action: verifyEmail,
  }),

  perform('POST /api/v1/auth/verify-email/resend', {
    ...own,
    ...acknowledges,
    summary: 'Mail the link for the e-mail address again',
    refusals: ['email_must_not_be_verified_yet', 'rate_must_be_within_the_limit'],
    action: resendVerification,
  }),

  perform('POST /api/v1/auth/forgot-password', {
    ...open,
    ...acknowledges,
    summary: 'Mail a link for a new password; the answer is the same whether or not the address is known',
    body: AddressRequest,
    examples: addressExamples,
    action: forgotPassword,
  }),

  perform('POST /api/v1/auth/reset-password', {
    ...open,
    ...acknowledges,
    summary: 'Set a new password with the token that was mailed; ends all sessions',
    body: PasswordResetRequest,
    examples: passwordResetExamples,
    refusals: ['token_must_be_valid', 'password_must_be_hard_to_guess'],
    action: resetPassword,
  }),

  perform('POST /api/v1/auth/change-password', {
    ...own,
    ...acknowledges,
    summary: 'Change the password, knowing the current one; ends the other sessions',
    body: PasswordChangeRequest,
    examples: passwordChangeExamples,
    refusals: ['password_must_be_right', 'password_must_be_hard_to_guess', 'sign_in_must_not_be_locked'],
    action: changePassword,
  }),
]

export const authRoutes = section(
  'Signing in',
  'Users of a merchant sign in with a session: an access token of 15 minutes, sent as `Authorization: Bearer`, ' +
    'and a refresh token that buys the next pair. Signing in by hand is shown in docs/guides/sign-in.md.',
  [...signingIn, ...sessions, ...addressAndPassword],
)
