import { perform } from '../../../packages/contract/routes.ts'
import { section } from '../../../packages/contract/section.ts'
import { BalanceResource, TopUpRequest } from '../../../packages/domain/balances/balance.ts'
import { PayoutCallback, PayoutResource } from '../../../packages/domain/payouts/resource.ts'
import { PaymentIntentResource } from '../../../packages/domain/payment-intents/resource.ts'
import {
  sandboxClockExamples,
  SandboxClockMove,
  SandboxClockResource,
} from '../../../packages/domain/sandbox-clocks/resource.ts'
import { topUp } from '../actions/balances.ts'
import { playOperator } from '../actions/payouts.ts'
import { MobileMoneyCallback, playCollection } from '../actions/test-triggers.ts'
import { moveSandboxClock, showSandboxClock } from '../actions/sandbox-clock.ts'

const rows = [
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

  perform('GET /api/test/clock', {
    summary: 'Sandbox only: what time it is for this merchant',
    scope: 'settings.read',
    inferred: true,
    returns: SandboxClockResource,
    refusals: ['resource_must_exist'],
    action: showSandboxClock,
  }),

  perform('POST /api/test/clock', {
    summary: "Sandbox only: move this merchant's time forward, and run what falls due by then",
    scope: 'settings.write',
    inferred: true,
    body: SandboxClockMove,
    examples: sandboxClockExamples,
    returns: SandboxClockResource,
    refusals: ['resource_must_exist'],
    action: moveSandboxClock,
  }),

  perform('POST /api/test/payouts/callback', {
    summary: 'Sandbox only: play the operator and finish a payout',
    scope: 'payouts.write',
    body: PayoutCallback,
    returns: PayoutResource,
    refusals: ['resource_must_exist', 'resource_state_must_allow_it'],
    action: playOperator,
  }),
]

export const testRoutes = section(
  'Sandbox',
  'Play the operator. Sandbox keys only; [magic numbers](/docs/sandbox) do the same without a call.',
  rows,
)
