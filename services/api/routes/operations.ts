import { perform } from '../../../packages/contract/routes.ts'
import { section } from '../../../packages/contract/section.ts'
import { OperationResource } from '../../../packages/domain/payment-intents/operation.ts'
import { operationPage, showOperation } from '../actions/operations.ts'

const rows = [
  perform('GET /operations/status/{operationId}', {
    summary: 'Where a payment, payout or refund stands: a page for browsers, JSON otherwise',
    scope: 'public',
    params: { operationId: ['operation', 'payout', 'refund'] },
    returns: OperationResource,
    refusals: ['resource_must_exist'],
    page: operationPage,
    action: showOperation,
  }),
]

export const operationRoutes = section(
  'Operations',
  'Where a payment stands, for the payer and for support; and what became of an idempotency key.',
  rows,
)
