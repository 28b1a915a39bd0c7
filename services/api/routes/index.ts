import type { AnyRoute } from '../../../packages/contract/routes.ts'
import { balanceRoutes } from './balances.ts'
import { customerRoutes } from './customers.ts'
import { eventRoutes } from './events.ts'
import { feeRoutes } from './fees.ts'
import { geographyRoutes } from './geography.ts'
import { historyRoutes } from './history.ts'
import { idempotencyKeyRoutes } from './idempotency-keys.ts'
import { operationRoutes } from './operations.ts'
import { paymentIntentRoutes } from './payment-intents.ts'
import { paymentRoutes } from './payments.ts'
import { payoutRoutes } from './payouts.ts'
import { testRoutes } from './test.ts'
import { webhookEndpointRoutes } from './webhook-endpoints.ts'

const table: readonly AnyRoute[] = [
  ...balanceRoutes,
  ...customerRoutes,
  ...eventRoutes,
  ...feeRoutes,
  ...geographyRoutes,
  ...historyRoutes,
  ...operationRoutes,
  ...paymentIntentRoutes,
  ...paymentRoutes,
  ...payoutRoutes,
  ...testRoutes,
  ...webhookEndpointRoutes,
]

/** Every endpoint. */
export const routes: readonly AnyRoute[] = [...table, ...idempotencyKeyRoutes(table)]
