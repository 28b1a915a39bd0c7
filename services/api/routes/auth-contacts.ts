import { signedInUser } from '../../../packages/contract/access/callers.ts'
import { change, perform, show } from '../../../packages/contract/routes.ts'
import { section } from '../../../packages/contract/section.ts'
import {
  emailChangeExamples,
  emailRequestExamples,
  cancellationExamples,
  infoExamples,
} from '../../../packages/domain/users/resources/contact-examples.ts'
import {
  ContactChangeResource,
  EmailChange,
  EmailChangeCancellation,
  EmailChangeRequest,
  PersonalInfoResource,
  PersonalInfoRevision,
} from '../../../packages/domain/users/resources/contact-resources.ts'
import { addressExamples, tokenExamples } from '../../../packages/domain/users/examples.ts'
import {
  AcknowledgementResource,
  AddressRequest,
  TokenRequest,
} from '../../../packages/domain/users/resource.ts'
import { user } from '../../../packages/domain/users/user.ts'
import {
  changeEmail,
  confirmEmailChange,
  requestEmailChange,
  requestMagicLink,
  useMagicLink,
  viewEmailChange,
  viewNamedEmailChange,
  viewPersonalInfo,
} from '../actions/auth/contacts.ts'
import { namedInPath } from '../actions/auth/user-accounts.ts'
import { ChallengeOrSession } from './auth-factors.ts'

const open = { scope: 'public' } as const
const own = { scope: 'own', credentials: ['user'], owner: 'user' } as const

const ofUser = { ...own, subject: signedInUser, decider: user } as const
const personal = { ...ofUser, view: viewPersonalInfo, returns: PersonalInfoResource } as const

const rows = [
  perform('POST /api/v1/auth/magic-link', {
    ...open,
    summary: 'Mail a link to sign in with; the answer is the same whether or not the address is known',
    body: AddressRequest,
    examples: addressExamples,
    returns: AcknowledgementResource,
    action: requestMagicLink,
  }),

  perform('POST /api/v1/auth/magic-link/verify', {
    ...open,
    summary: 'Sign in with the token of a mailed link',
    body: TokenRequest,
    examples: tokenExamples,
    returns: ChallengeOrSession,
    showsSecret: true,
    refusals: ['token_must_be_valid', 'email_and_password_must_be_right'],
    action: useMagicLink,
  }),

  show('GET /api/v1/auth/personal-info', {
    ...personal,
    summary: 'Name, addresses and language of the user',
  }),

  change('PATCH /api/v1/auth/personal-info', {
    ...personal,
    summary: 'Change name, second address or language',
    body: PersonalInfoRevision,
    examples: infoExamples,
    command: 'RevisePersonalInfo',
  }),

  perform('POST /api/v1/auth/change-email', {
    ...own,
    summary: 'Change the address at once, with a verified challenge; the new one is unverified',
    challenge: 'change_email',
    body: EmailChange,
    examples: emailChangeExamples,
    returns: PersonalInfoResource,
    refusals: ['email_must_be_free'],
    action: changeEmail,
  }),

  perform('POST /api/v1/auth/email-change/request', {
    ...own,
    summary: 'Begin to change the address: a link goes to the new one',
    body: EmailChangeRequest,
    examples: emailRequestExamples,
    status: 201,
    location: '/api/v1/auth/email-change/requests/{id}',
    returns: ContactChangeResource,
    refusals: ['email_must_be_free', 'challenge_must_be_verified', 'rate_must_be_within_the_limit'],
    action: requestEmailChange,
  }),

  show('GET /api/v1/auth/email-change/requests/{id}', {
    ...ofUser,
    summary: 'Where a change of the address stands',
    inferred: true,
    params: { id: 'text' },
    view: viewNamedEmailChange,
    beside: namedInPath,
    returns: ContactChangeResource,
  }),

  perform('POST /api/v1/auth/email-change/confirm', {
    ...own,
    summary:
      'Finish the change, signed in, with the token that was mailed to the new address; the old one is told',
    body: TokenRequest,
    examples: tokenExamples,
    returns: ContactChangeResource,
    refusals: ['token_must_be_valid', 'email_must_be_free'],
    action: confirmEmailChange,
  }),

  change('POST /api/v1/auth/email-change/cancel', {
    ...ofUser,
    summary: 'Withdraw a change that is not finished, by default the newest',
    body: EmailChangeCancellation,
    examples: cancellationExamples,
    command: 'CancelEmailChange',
    data: ({ requestId }) => (requestId ? { link: requestId } : {}),
    view: viewEmailChange,
    returns: ContactChangeResource,
    refusals: ['resource_must_exist', 'contact_change_must_be_pending'],
  }),
]

export const authContactRoutes = section(
  'Addresses of users',
  'Where a user is written to, and signing in by mail. Changing the address needs a challenge or a mailed link.',
  rows,
)
