import { refuse } from '../../../../packages/contract/refusals.ts'
import type { Dependencies, Request, Slice } from '../../../../packages/contract/routes.ts'
import type { Static } from '../../../../packages/contract/vocabulary.ts'
import { merchant } from '../../../../packages/domain/merchants/merchant.ts'
import { hasSecondFactor } from '../../../../packages/domain/users/factors.ts'
import { stepNames, type Guide, type OnboardingStep } from '../../../../packages/domain/users/onboarding.ts'
import {
  viewOnboarding,
  viewSteps,
  type OnboardingProgress,
  type OnboardingState,
  type OnboardingStepResource,
} from '../../../../packages/domain/users/resources/onboarding-resources.ts'
import type { User } from '../../../../packages/domain/users/user.ts'
import { actingFor } from '../../../../packages/kernel/envelope.ts'
import { readState } from '../../../../packages/kernel/history.ts'
import { equal } from '../../../../packages/kernel/ports/reads.ts'
import { payments } from '../../../../projections/payment-intents.ts'
import { payoutDestinations } from '../../../../projections/payouts.ts'
import { webhookEndpoints } from '../../../../projections/webhook-endpoints.ts'
import { knownUser, signedIn } from './user-accounts.ts'

type Reading = Pick<Dependencies, 'store' | 'executor' | 'reads' | 'blindIndex'>

interface Candidate {
  readonly user: string
  readonly merchant: string
}

// The guide

type Progress = Static<typeof OnboardingProgress>

export function viewGuide(id: string, state: User): Static<typeof OnboardingState> | undefined {
  return state.status === 'active' ? viewOnboarding(id, state.guide) : undefined
}

export function guideIn(progress: Progress): Partial<Guide> {
  const { onboardingDismissed: dismissed, onboardingCompleted: completed, onboardingStep: step } = progress
  return {
    ...(dismissed !== undefined && { dismissed }),
    ...(completed !== undefined && { completed }),
    ...(step !== undefined && { step }),
  }
}

/** An owner who is through, and whose merchant has done everything, opens live by saying so. */
export async function openIfThrough(request: Request<Progress>): Promise<void> {
  const { body, dependencies, envelope } = request
  const { user: id, role, merchant: works } = signedIn(request)
  if (!body.onboardingCompleted || role !== 'owner') return
  await openToLive({ dependencies, envelope }, { user: id, merchant: works })
}

async function openToLive(
  { dependencies, envelope }: Pick<Request, 'dependencies' | 'envelope'>,
  candidate: Candidate,
): Promise<void> {
  const missing = await missingStep(dependencies, candidate)
  if (missing !== 'go_live') return
  const { merchant: id } = candidate
  const own = actingFor({ merchant: id, livemode: false }, envelope)
  await dependencies.executor.send(merchant, id, { type: 'OpenToLive', data: {} }, own)
}

// What has to be done before live

export async function stepItems(request: Request): Promise<Slice<Static<typeof OnboardingStepResource>>> {
  const { user: id, merchant: works } = signedIn(request)
  return { data: viewSteps(await stepsDone(request.dependencies, { user: id, merchant: works })) }
}

/** The first that is not done; `undefined` where live is open. */
export async function missingStep(
  dependencies: Reading,
  candidate: Candidate,
): Promise<OnboardingStep | undefined> {
  const done = await stepsDone(dependencies, candidate)
  return stepNames.find((name) => !done.has(name))
}

/** What it is waiting for is what the one who asks can see, and what the merchant has in the sandbox. */
async function stepsDone(
  dependencies: Reading,
  { user: id, merchant: works }: Candidate,
): Promise<ReadonlySet<OnboardingStep>> {
  const { store } = dependencies
  const [person, host] = [await knownUser(dependencies, id), await readState(store, merchant, works)]
  if (host.status === 'none') return refuse('merchant_must_exist')
  const has = (from: string) => hasAny(dependencies, from, works)
  const facts: Readonly<Record<OnboardingStep, boolean>> = {
    verify_email: person.emailVerified,
    secure_account: hasSecondFactor(person),
    business_profile: host.organization !== null,
    payout_destination: await has(payoutDestinations.name),
    first_payment: await has(payments.name),
    webhook: await has(webhookEndpoints.name),
    go_live: host.isLive,
  }
  return new Set(stepNames.filter((name) => facts[name]))
}

async function hasAny({ reads }: Reading, from: string, id: string): Promise<boolean> {
  const where = equal({ merchant: id, livemode: false, shown: true })
  const { rows } = await reads.page({ from, where, order: 'created', limit: 1 })
  return rows.length > 0
}
