import { refuse } from '../../../packages/contract/refusals.ts'
import type { Dependencies, Request, Slice } from '../../../packages/contract/routes.ts'
import type { Static } from '../../../packages/contract/vocabulary.ts'
import { merchant } from '../../../packages/domain/merchants/merchant.ts'
import { stepNames, type OnboardingStep } from '../../../packages/domain/users/onboarding.ts'
import {
  viewOnboarding,
  viewSteps,
  type OnboardingProgress,
  type OnboardingState,
  type OnboardingStepResource,
} from '../../../packages/domain/users/onboarding-resources.ts'
import { user, type ActiveUser } from '../../../packages/domain/users/user.ts'
import { actingFor } from '../../../packages/kernel/envelope.ts'
import { readCurrent, readState } from '../../../packages/kernel/history.ts'
import { equal } from '../../../packages/kernel/read-ports.ts'
import { payments } from '../../../projections/payment-intents.ts'
import { payoutDestinations } from '../../../projections/payouts.ts'
import { webhookEndpoints } from '../../../projections/webhook-endpoints.ts'
import { knownUser, signedIn } from './user-accounts.ts'

type Reading = Pick<Dependencies, 'store' | 'reads' | 'blindIndex'>

interface Candidate {
  readonly user: string
  readonly merchant: string
}

// The guide

export async function showOnboarding(request: Request): Promise<Static<typeof OnboardingState>> {
  const { user: id } = signedIn(request)
  const { state, revision } = await readCurrent(request.dependencies.store, user, id)
  request.read(revision)
  return viewOnboarding(id, (state as ActiveUser).guide)
}

/** An owner who is through, and whose merchant has done everything, opens live by saying so. */
export async function progressOnboarding(request: Request<Static<typeof OnboardingProgress>>) {
  const { user: id, role, merchant: works } = signedIn(request)
  const { onboardingDismissed: dismissed, onboardingCompleted: completed } = request.body
  const { onboardingStep: step } = request.body
  const data = {
    ...(dismissed !== undefined && { dismissed }),
    ...(completed !== undefined && { completed }),
    ...(step !== undefined && { step }),
  }
  const { state } = await request.send(user, id, { type: 'ProgressOnboarding', data })
  if (completed && role === 'owner') await openToLive(request, { user: id, merchant: works })
  return viewOnboarding(id, (state as ActiveUser).guide)
}

async function openToLive({ dependencies, envelope }: Request<unknown>, candidate: Candidate): Promise<void> {
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
    secure_account: person.totp !== null || person.passkeys.length > 0,
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
