import { perform } from '../../../packages/contract/routes.ts'
import { BalanceResource, TopUpRequest } from '../../../packages/domain/balances/balance.ts'
import { PaymentIntentResource } from '../../../packages/domain/payment-intents/resource.ts'
import { topUp } from '../actions/balances.ts'
import { MobileMoneyCallback, playCollection } from '../actions/test-triggers.ts'

export const testRoutes = [
  perform('POST /api/test/mobile-money/callback', {
    summary: 'Sandbox only: play the operator and finish a payment',
    scope: 'payments.write',
    inferred: true,
    body: MobileMoneyCallback,
    returns: PaymentIntentResource,
    refusals: ['resource_must_exist', 'intent_must_be_cancelable'],
    action: playCollection,
  }),

  perform('POST /api/test/balance/topup', {
    summary: 'Sandbox only: put play money on the balance',
    scope: 'payments.write',
    inferred: true,
    body: TopUpRequest,
    returns: BalanceResource,
    refusals: ['resource_must_exist', 'payment_must_be_eligible', 'balance_must_stay_countable'],
    action: topUp,
  }),
]
