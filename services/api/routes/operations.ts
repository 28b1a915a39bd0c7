import { perform } from '../../../packages/contract/routes.ts'
import { OperationResource } from '../../../packages/domain/payment-intents/operation.ts'
import { operationPage, showOperation } from '../actions/operations.ts'

export const operationRoutes = [
  perform('GET /operations/status/{operationId}', {
    summary: 'Where a payment, payout or refund stands: a page for browsers, JSON otherwise',
    scope: 'public',
    returns: OperationResource,
    refusals: ['resource_must_exist'],
    page: operationPage,
    action: showOperation,
  }),
]
