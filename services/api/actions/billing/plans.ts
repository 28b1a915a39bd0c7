import type { Request } from '../../../../packages/contract/routes.ts'
import type { Static } from '../../../../packages/contract/vocabulary.ts'
import type { PlanCommands } from '../../../../packages/domain/plans/plan.ts'
import type { PlanRequest } from '../../../../packages/domain/plans/resource.ts'
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
