import { nullable, record, Type } from '../../contract/vocabulary.ts'
import { stored, type EventsOf } from '../../kernel/event-types.ts'

/** How far somebody got in the guide of the dashboard, in its own words. */
export const GuideStep = Type.String({
  pattern: '^[a-z0-9_-]{1,64}$',
  'x-expected': 'the name of a step, such as verify_email',
  description: 'Where the guide goes on',
})

export const onboardingEvents = {
  UserOnboardingProgressed: stored(
    1,
    record({ dismissed: Type.Boolean(), completed: Type.Boolean(), step: nullable(GuideStep) }),
  ),
}

export type OnboardingEvents = EventsOf<typeof onboardingEvents>
export type Guide = Readonly<OnboardingEvents['UserOnboardingProgressed']>

export const noGuide: Guide = { dismissed: false, completed: false, step: null }

/** What is left out stays as it is. */
export type OnboardingCommands = { ProgressOnboarding: Partial<Guide> }

export function progressOnboarding(given: Partial<Guide>, { guide }: { readonly guide: Guide }) {
  const next = { ...guide, ...given }
  const isSame = JSON.stringify(next) === JSON.stringify(guide)
  return isSame ? [] : [{ type: 'UserOnboardingProgressed' as const, data: next }]
}

/** Domain model 5.11: what has to be done before a merchant goes live, in this order. */
export const onboardingSteps = {
  verify_email: ['Confirm your address', 'Open the link that was mailed to you.'],
  secure_account: [
    'Secure your account',
    'Turn on an authenticator, so that a password alone opens nothing.',
  ],
  business_profile: ['Describe your business', 'Name the organization that owns the merchant.'],
  payout_destination: [
    'Save a destination for payouts',
    'Say where your money goes: an account or a number.',
  ],
  first_payment: ['Take a first payment', 'Take a payment in the sandbox, and see it succeed.'],
  webhook: ['Register a webhook endpoint', 'Let your server be told of what happens.'],
  go_live: ['Go live', 'An owner says so: `PATCH /api/v1/auth/onboarding` with `onboardingCompleted`.'],
} as const

export type OnboardingStep = keyof typeof onboardingSteps
export const stepNames = Object.keys(onboardingSteps) as readonly OnboardingStep[]
