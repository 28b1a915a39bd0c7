import {
  literals,
  nullable,
  optional,
  maybe,
  record,
  Type,
  Uuid,
  type Static,
} from '../../../contract/vocabulary.ts'
import type { NamedExamples } from '../../../contract/routes.ts'
import { GuideStep, onboardingSteps, stepNames, type Guide, type OnboardingStep } from '../onboarding.ts'

const dismissed = Type.Boolean({ description: 'The user does not want to see the guide' })
const completed = Type.Boolean({
  description: 'The user is through; where nothing is missing, an owner opens live by it',
})

export const OnboardingProgress = record({
  onboardingDismissed: optional(dismissed),
  onboardingCompleted: optional(completed),
  onboardingStep: maybe(GuideStep),
})

export const onboardingExamples: NamedExamples = {
  step: { summary: 'Where the guide goes on', value: { onboardingStep: 'webhook' } },
  completed: { summary: 'Through, and live', value: { onboardingCompleted: true } },
}

export const OnboardingState = record({
  id: Uuid,
  object: literals('onboarding_state'),
  livemode: Type.Boolean({ description: 'False in sandbox' }),
  onboarding_dismissed: dismissed,
  onboarding_completed: completed,
  onboarding_step: nullable(GuideStep),
})

export const OnboardingStepResource = record({
  id: { ...literals(...stepNames), description: 'Name of the step' },
  object: literals('onboarding_step'),
  title: Type.String({ description: 'What to do' }),
  description: Type.String({ description: 'How to do it' }),
  status: {
    ...literals('todo', 'in_progress', 'done'),
    description: 'The first that is not done is in progress',
  },
  required_for: { ...literals('sandbox', 'live'), description: 'What it opens' },
  position: Type.Integer({ minimum: 1, description: 'Its place, from 1 on' }),
})

export function viewOnboarding(
  id: string,
  { dismissed: onboarding_dismissed, completed: onboarding_completed, step: onboarding_step }: Guide,
): Static<typeof OnboardingState> {
  return {
    id,
    object: 'onboarding_state',
    livemode: false,
    onboarding_dismissed,
    onboarding_completed,
    onboarding_step,
  }
}

/** All steps in their order, of which these are done. */
export function viewSteps(done: ReadonlySet<OnboardingStep>): Static<typeof OnboardingStepResource>[] {
  const current = stepNames.find((name) => !done.has(name))
  return stepNames.map((name, index) => {
    const [title, description] = onboardingSteps[name]
    const open = name === current ? 'in_progress' : 'todo'
    const status = done.has(name) ? 'done' : open
    const place = { required_for: 'live', position: index + 1 } as const
    return { id: name, object: 'onboarding_step', title, description, status, ...place }
  })
}
