import { perform } from '../../../packages/contract/routes.ts'
import { paymentIntent } from '../../../packages/domain/payment-intents/payment-intent.ts'
import { viewPaymentIntent } from '../../../packages/domain/payment-intents/resource.ts'
import { payout } from '../../../packages/domain/payouts/payout.ts'
import { viewPayout } from '../../../packages/domain/payouts/resource.ts'
import { History, historyOf } from '../actions/history.ts'

/** An addition of ours: what happened to a resource, by whom, and what it changed. */
export const historyRoutes = [
  perform('GET /api/v1/payouts/{id}/history', {
    summary: 'Every event of the payout, with time, actor and what changed',
    scope: 'payouts.read',
    inferred: true,
    kinds: ['payout'],
    refusals: ['resource_must_exist'],
    returns: History,
    action: historyOf(payout, viewPayout),
  }),

  perform('GET /api/v1/payment-intents/{id}/history', {
    summary: 'Every event of the payment intent, with time, actor and what changed',
    scope: 'payments.read',
    inferred: true,
    kinds: ['payment_intent', 'payment'],
    refusals: ['resource_must_exist'],
    returns: History,
    action: historyOf(paymentIntent, viewPaymentIntent),
  }),
]
