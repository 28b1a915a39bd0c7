import { perform } from '../../../packages/contract/routes.ts'
import { section } from '../../../packages/contract/section.ts'
import { FeeQuoteRequest, FeeQuoteResource, quote } from '../actions/fees.ts'

const rows = [
  perform('POST /api/v1/fees/quote', {
    summary: 'The fee of an operation before doing it; nothing is stored',
    scope: 'payments.read',
    body: FeeQuoteRequest,
    returns: FeeQuoteResource,
    refusals: ['payment_must_be_eligible'],
    action: quote,
  }),
]

export const feeRoutes = section('Fees', 'What a payment or a payout costs, before it is made.', rows)
