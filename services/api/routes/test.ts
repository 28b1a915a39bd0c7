import type { Caller } from '../../../packages/contract/access/callers.ts'
import { change, history, perform, show } from '../../../packages/contract/routes.ts'
import { section } from '../../../packages/contract/section.ts'
import { BalanceResource, TopUpRequest } from '../../../packages/domain/balances/balance.ts'
import { PayoutCallback, PayoutResource } from '../../../packages/domain/payouts/resource.ts'
import { PaymentIntentResource } from '../../../packages/domain/payment-intents/resource.ts'
import {
  sandboxClockExamples,
  SandboxClockMove,
  SandboxClockResource,
  viewClockMoves,
  viewSandboxClock,
} from '../../../packages/domain/sandbox-clocks/resource.ts'
import { sandboxClock, sandboxClockId } from '../../../packages/domain/sandbox-clocks/sandbox-clock.ts'
import { sandboxClockDocuments } from '../../../projections/sandbox-clocks.ts'
import { topUp } from '../actions/balances.ts'
import { playOperator } from '../actions/payouts.ts'
import { MobileMoneyCallback, playCollection } from '../actions/test-triggers.ts'
import { learnMove, prepareMove, realTime, timeOfMove } from '../actions/sandbox-clock.ts'

const own = {
  environment: 'sandbox only',
  inferred: true,
  subject: ({ merchant }: Caller) => sandboxClockId(merchant),
  from: sandboxClockDocuments,
  returns: SandboxClockResource,
} as const

const clock = { ...own, view: viewSandboxClock } as const

const rows = [
  perform('POST /api/test/mobile-money/callback', {
    environment: 'sandbox only',
    summary: 'Sandbox only: play the operator and finish a payment',
    scope: 'payments.write',
    inferred: true,
    body: MobileMoneyCallback,
    returns: PaymentIntentResource,
    refusals: ['intent_must_be_cancelable'],
    action: playCollection,
  }),

  perform('POST /api/test/balance/topup', {
    environment: 'sandbox only',
    summary: 'Sandbox only: put play money on the balance',
    scope: 'payments.write',
    inferred: true,
    body: TopUpRequest,
    returns: BalanceResource,
    refusals: ['payment_must_be_eligible', 'balance_must_stay_countable'],
    action: topUp,
  }),

  show('GET /api/test/clock', {
    ...clock,
    summary: 'Sandbox only: what time it is for this merchant',
    scope: 'settings.read',
    beside: realTime,
  }),

  change('POST /api/test/clock', {
    ...clock,
    summary: "Sandbox only: move this merchant's time forward, and run what falls due by then",
    scope: 'settings.write',
    body: SandboxClockMove,
    examples: sandboxClockExamples,
    decider: sandboxClock,
    command: 'MoveSandboxClock',
    prepare: prepareMove,
    after: learnMove,
    beside: timeOfMove,
  }),

  history('GET /api/test/clock/history', {
    ...own,
    summary: 'Sandbox only: every move of the clock, with who moved it and how far',
    scope: 'settings.read',
    view: viewClockMoves,
  }),

  perform('POST /api/test/payouts/callback', {
    environment: 'sandbox only',
    summary: 'Sandbox only: play the operator and finish a payout',
    scope: 'payouts.write',
    body: PayoutCallback,
    returns: PayoutResource,
    refusals: ['payout_must_be_in_transit'],
    action: playOperator,
  }),
]

export const testRoutes = section(
  'Sandbox',
  'Play the operator. Sandbox keys only; [magic numbers](/docs/sandbox) do the same without a call.',
  rows,
)
