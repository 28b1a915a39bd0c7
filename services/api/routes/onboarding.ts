import { listItems, perform } from '../../../packages/contract/routes.ts'
import { section } from '../../../packages/contract/section.ts'
import {
  onboardingExamples,
  OnboardingProgress,
  OnboardingState,
  OnboardingStepResource,
} from '../../../packages/domain/users/onboarding-resources.ts'
import { progressOnboarding, showOnboarding, stepItems } from '../actions/onboarding.ts'

const ofUser = {
  scope: 'own',
  credentials: ['user'],
  owner: 'user',
  subject: (caller: object) => ('user' in caller ? String(caller.user) : ''),
  returns: OnboardingState,
} as const

const rows = [
  perform('GET /api/v1/auth/onboarding', {
    ...ofUser,
    summary: 'Where the user stands in the guide for newcomers',
    action: showOnboarding,
  }),

  perform('PATCH /api/v1/auth/onboarding', {
    ...ofUser,
    isChange: true,
    summary: 'Note how far the user got in the guide; an owner who is through opens live',
    body: OnboardingProgress,
    examples: onboardingExamples,
    action: progressOnboarding,
  }),

  listItems('GET /api/v1/onboarding/steps', {
    scope: 'own',
    credentials: ['user'],
    environment: 'either',
    summary: 'What has to be done before live, in this order',
    returns: OnboardingStepResource,
    items: stepItems,
  }),
]

export const onboardingRoutes = section(
  'Onboarding',
  'What stands between a new merchant and live. Live is refused until all of it is done, and the refusal names ' +
    'the step that is missing.',
  rows,
)
