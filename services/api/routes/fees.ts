import { perform } from '../../../packages/contract/routes.ts'
import { FeeQuoteRequest, FeeQuoteResource, quote } from '../actions/fees.ts'

export const feeRoutes = [
  perform('POST /api/v1/fees/quote', {
    summary: 'The fee of an operation before doing it; nothing is stored',
    scope: 'payments.read',
    body: FeeQuoteRequest,
    returns: FeeQuoteResource,
    refusals: ['payment_must_be_eligible'],
    action: quote,
  }),
]
