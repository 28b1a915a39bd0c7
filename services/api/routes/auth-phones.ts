import { perform } from '../../../packages/contract/routes.ts'
import { section } from '../../../packages/contract/section.ts'
import { ChallengeResource } from '../../../packages/domain/challenges/resource.ts'
import {
  ContactChangeResource,
  PersonalInfoResource,
} from '../../../packages/domain/users/resources/contact-resources.ts'
import {
  phoneChangeExamples,
  phoneProofExamples,
  phoneRequestExamples,
  preSignupAnswerExamples,
  preSignupEmailExamples,
  preSignupPhoneExamples,
  sensitiveExamples,
} from '../../../packages/domain/users/resources/phone-examples.ts'
import {
  PhoneChange,
  PhoneChangeProof,
  PhoneChangeRequest,
  PreSignupAnswer,
  PreSignupEmail,
  PreSignupPhone,
  SensitiveUpdate,
} from '../../../packages/domain/users/resources/phone-resources.ts'
import {
  changePhone,
  requestPhoneChange,
  showPhoneChange,
  verifyPhoneChange,
} from '../actions/auth/phones.ts'
import {
  challengeEmail,
  challengePhone,
  showPreSignup,
  verifyEmailBefore,
  verifyPhoneBefore,
} from '../actions/auth/pre-signup.ts'
import { updateSensitive } from '../actions/auth/sensitive-update.ts'

const open = { scope: 'public' } as const
const own = { scope: 'own', credentials: ['user'], owner: 'user' } as const

const sends = {
  ...open,
  status: 201,
  location: '/api/v1/auth/pre-signup/challenges/{id}',
  returns: ChallengeResource,
  refusals: ['rate_must_be_within_the_limit'],
} as const
const checks = {
  ...open,
  body: PreSignupAnswer,
  examples: preSignupAnswerExamples,
  returns: ChallengeResource,
  refusals: ['code_must_be_right', 'challenge_must_be_pending'],
} as const

const before = [
  perform('POST /api/v1/auth/pre-signup/email/challenge', {
    ...sends,
    summary: 'Send a code to an address before registration; the answer is the same for a known address',
    body: PreSignupEmail,
    examples: preSignupEmailExamples,
    action: challengeEmail,
  }),

  perform('POST /api/v1/auth/pre-signup/email/verify', {
    ...checks,
    summary: 'Check the code that went to the address; registration takes the challenge as proof',
    action: verifyEmailBefore,
  }),

  perform('POST /api/v1/auth/pre-signup/phone/challenge', {
    ...sends,
    summary: 'Send a code to a telephone before registration',
    body: PreSignupPhone,
    examples: preSignupPhoneExamples,
    action: challengePhone,
  }),

  perform('POST /api/v1/auth/pre-signup/phone/verify', {
    ...checks,
    summary: 'Check the code that went to the telephone; registration takes the challenge as proof',
    action: verifyPhoneBefore,
  }),

  perform('GET /api/v1/auth/pre-signup/challenges/{id}', {
    ...open,
    summary: 'Where such a challenge stands, for who knows its id',
    inferred: true,
    params: { id: 'challenge' },
    returns: ChallengeResource,
    refusals: ['resource_must_exist'],
    action: showPreSignup,
  }),
]

const changes = [
  perform('POST /api/v1/auth/change-phone', {
    ...own,
    summary: 'Change the number at once, with a verified challenge; the new one is unverified',
    challenge: 'change_phone',
    body: PhoneChange,
    examples: phoneChangeExamples,
    returns: PersonalInfoResource,
    refusals: ['phone_must_be_free'],
    action: changePhone,
  }),

  perform('POST /api/v1/auth/phone-change/request', {
    ...own,
    summary: 'Begin to change the number: a code goes to the new one',
    body: PhoneChangeRequest,
    examples: phoneRequestExamples,
    status: 201,
    location: '/api/v1/auth/phone-change/requests/{id}',
    returns: ContactChangeResource,
    refusals: ['phone_must_be_free', 'challenge_must_be_verified', 'rate_must_be_within_the_limit'],
    action: requestPhoneChange,
  }),

  perform('GET /api/v1/auth/phone-change/requests/{id}', {
    ...own,
    summary: 'Where a change of the number stands',
    inferred: true,
    params: { id: 'text' },
    returns: ContactChangeResource,
    action: showPhoneChange,
  }),

  perform('POST /api/v1/auth/phone-change/verify', {
    ...own,
    summary: 'Finish the change with the code that went to the new number',
    body: PhoneChangeProof,
    examples: phoneProofExamples,
    returns: ContactChangeResource,
    refusals: [
      'code_must_be_right',
      'challenge_must_be_pending',
      'resource_must_exist',
      'contact_change_must_be_pending',
      'phone_must_be_free',
    ],
    action: verifyPhoneChange,
  }),

  perform('POST /api/v1/auth/personal-info/sensitive', {
    ...own,
    summary: 'Change address, number and password together, under one verified challenge',
    challenge: 'sensitive_update',
    body: SensitiveUpdate,
    examples: sensitiveExamples,
    returns: PersonalInfoResource,
    refusals: ['email_must_be_free', 'phone_must_be_free', 'password_must_be_hard_to_guess'],
    action: updateSensitive,
  }),
]

export const authPhoneRoutes = section(
  'Telephones of users',
  'A number that is proved by a code is its user’s alone. Address and number can be proved before registration too.',
  [...before, ...changes],
)
