import { identity } from '../../../../packages/contract/identity.ts'
import type { Request } from '../../../../packages/contract/routes.ts'
import type { Static } from '../../../../packages/contract/vocabulary.ts'
import type { PlanCommands } from '../../../../packages/domain/plans/plan.ts'
import type { PlanRequest } from '../../../../packages/domain/plans/resource.ts'
import { plans } from '../../../../projections/plans.ts'
import { currentState } from '../../kinds/current-state.ts'
import { refuseUnknown } from '../../kinds/prefixes.ts'
import { activeMerchant } from '../hosted/checkout-terms.ts'

export async function preparePlan({
  body,
  caller,
  dependencies,
}: Request<Static<typeof PlanRequest>>): Promise<PlanCommands['CreatePlan']> {
  const { name, currency, recurringAmount, interval, usageBasedEnabled, metadata } = body
  return {
    name: name ?? null,
    currency: currency ?? (await activeMerchant(dependencies, caller.merchant)).currency,
    recurring_amount: recurringAmount ?? 0,
    interval: interval ?? 'month',
    usage_based_enabled: usageBasedEnabled ?? false,
    metadata: metadata ?? null,
  }
}

/** What a product is sold by is a plan of the same merchant. */
export async function withOwnPlan<Body extends { readonly default_price?: string | null | undefined }>(
  request: Request<Body>,
): Promise<Body> {
  const { default_price: text } = request.body
  if (text === undefined || text === null) return request.body
  const id = identity(text, 'plan')
  const plan = id && (await currentState(request, plans, id))
  return plan ? request.body : refuseUnknown('/default_price', 'plan', text)
}
