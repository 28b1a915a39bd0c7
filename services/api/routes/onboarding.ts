import { signedInUser } from '../../../packages/contract/access/callers.ts'
import { change, listItems, show } from '../../../packages/contract/routes.ts'
import { section } from '../../../packages/contract/section.ts'
import {
  onboardingExamples,
  OnboardingProgress,
  OnboardingState,
  OnboardingStepResource,
} from '../../../packages/domain/users/resources/onboarding-resources.ts'
import { user } from '../../../packages/domain/users/user.ts'
import { guideIn, openIfThrough, stepItems, viewGuide } from '../actions/auth/onboarding.ts'

const ofUser = {
  scope: 'own',
  credentials: ['user'],
  owner: 'user',
  subject: signedInUser,
  decider: user,
  view: viewGuide,
  returns: OnboardingState,
} as const

const rows = [
  show('GET /api/v1/auth/onboarding', {
    ...ofUser,
    summary: 'Where the user stands in the guide for newcomers',
  }),

  change('PATCH /api/v1/auth/onboarding', {
    ...ofUser,
    summary: 'Note how far the user got in the guide; an owner who is through opens live',
    body: OnboardingProgress,
    examples: onboardingExamples,
    command: 'ProgressOnboarding',
    data: guideIn,
    after: openIfThrough,
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
