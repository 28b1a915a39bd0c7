import { create, history, list, show } from '../../../packages/contract/routes.ts'
import { section } from '../../../packages/contract/section.ts'
import { AmountMinor, Currency, Timestamp } from '../../../packages/contract/vocabulary.ts'
import { payoutExamples } from '../../../packages/domain/payouts/examples.ts'
import { payout } from '../../../packages/domain/payouts/payout.ts'
import {
  PayoutRequest,
  PayoutResource,
  PayoutStatus,
  viewPayout,
} from '../../../packages/domain/payouts/resource.ts'
import { payouts } from '../../../projections/payouts.ts'
import { prepareMerchantPayout, preparePayout } from '../actions/payouts.ts'

const creation = {
  scope: 'payouts.write',
  idempotency: 'required in live',
  body: PayoutRequest,
  examples: payoutExamples,
  returns: PayoutResource,
  decider: payout,
  command: 'RequestPayout',
  view: viewPayout,
  refusals: [
    'live_payout_must_have_an_idempotency_key',
    'payout_must_not_be_abandoned',
    'payout_must_have_one_valid_destination',
    'operator_must_be_known',
    'operator_must_take_payouts',
    'amount_must_be_within_the_limits',
    'balance_must_cover_amount_and_fees',
    'destination_must_be_past_its_safety_delay',
    'destination_must_be_active',
    'live_provider_must_be_configured',
  ],
} as const

const params = { id: 'payout' }

const one = {
  scope: 'payouts.read',
  from: payouts,
  view: viewPayout,
  returns: PayoutResource,
} as const

const rows = [
  create('POST /api/v1/payouts', {
    ...creation,
    summary: 'Pay money out of the balance',
    environment: 'required',
    prepare: preparePayout,
  }),

  show('GET /api/v1/payouts/{id}', { ...one, params, summary: 'One payout', environment: 'required' }),

  list('GET /api/v1/merchant/payouts', {
    ...one,
    summary: 'Payouts, newest first',
    paging: 'page',
    filter: { status: PayoutStatus, currency: Currency },
    ranges: { amount: AmountMinor, created_at: Timestamp },
    period: 'created_at',
  }),

  show('GET /api/v1/merchant/payouts/{id}', { ...one, params, summary: 'One payout' }),

  create('POST /api/v1/merchant/payouts', {
    ...creation,
    twinOf: 'POST /api/v1/payouts',
    summary: 'Pay out from the dashboard; the default destination is taken when none is given',
    prepare: prepareMerchantPayout,
  }),

  history('GET /api/v1/payouts/{id}/history', { ...one, params }),
]

export const payoutRoutes = section(
  'Payouts',
  "A payout sends money from the merchant's balance to a mobile money account or a bank account. The " +
    'amount and its fee are held when the payout is accepted, and come back when it fails.',
  rows,
)
