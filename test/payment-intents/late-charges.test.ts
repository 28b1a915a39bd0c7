import { derivedId } from '../../packages/contract/identity.ts'
import { plainPlan, plainPurpose } from '../../packages/domain/ledger/plans.ts'
import type { PaymentIntentEvents } from '../../packages/domain/payment-intents/events.ts'
import {
  paymentIntent,
  type PaymentIntentCommands,
} from '../../packages/domain/payment-intents/payment-intent.ts'
import type { Message } from '../../packages/kernel/decider.ts'
import { paidFor, reserve } from '../support/payments/payment-events.ts'
import { context, scenarios } from '../support/scenarios.ts'

type Event = Message<PaymentIntentEvents>
type Command = Message<PaymentIntentCommands>

const operationId = derivedId(context.id, 'confirmation 1')
const refund = '0190a1b2-0000-7000-8000-00000000000f'
const rail = 'mobile_money.SN.orange_money'
const money = { operationId, amount: 5_000, currency: 'XOF', rail }
const terms = { amount: 5_000, currency: 'XOF', transactionCountry: 'SN', metadata: {} }
const unknown = { payerCountry: null, railCountry: null, description: null, customer: null }
const created: Event = {
  type: 'PaymentIntentCreated',
  data: { ...terms, ...unknown, purpose: plainPurpose, plan: plainPlan(5_000) },
}
const paid = [created, paidFor({ ...money, fee: 100, availableOn: '2026-01-01T12:00:00.000Z' })]
const reserved = reserve(refund, 2_000)
const refunded: Event = { type: 'PaymentIntentRefunded', data: { refund, amount: 2_000 } }

const charge = (attempt: number): Command => {
  return { type: 'ChargeRefund', data: { refund, amount: 2_000, attempt } }
}
const chargeRefused: Event = {
  type: 'PaymentIntentRefundChargeRefused',
  data: { refund, attempt: 1, reason: 'Nothing is left of the payment' },
}

scenarios(paymentIntent, {
  'a refund that came back and is said to be done again decides nothing': {
    given: [...paid, reserved, refunded, { type: 'PaymentIntentRefundReturned', data: { refund } }],
    when: { type: 'RecordRefund', data: { refund } },
    then: [],
  },
  'a failed refund that was paid after all takes what is left': {
    given: [...paid, reserved, { type: 'PaymentIntentRefundReleased', data: { refund } }],
    when: charge(1),
    then: [
      {
        type: 'PaymentIntentRefundCharged',
        data: {
          refund,
          attempt: 1,
          amount: 2_000,
          currency: 'XOF',
          rail: money.rail,
          shares: [{ account: 'merchant.available', amount: 2_000 }],
        },
      },
    ],
  },
  'a failed refund that was paid after all, when nothing is left, is told': {
    given: [
      ...paid,
      reserved,
      { type: 'PaymentIntentRefundReleased', data: { refund } },
      reserve(operationId, 5_000),
    ],
    when: charge(1),
    then: [chargeRefused],
  },
  'a charge that was refused is refused once, whatever is left by then': {
    given: [...paid, reserved, { type: 'PaymentIntentRefundReleased', data: { refund } }, chargeRefused],
    when: charge(1),
    then: [],
  },
  'a payment that was taken back has nothing to charge a refund to': {
    given: [
      ...paid,
      reserved,
      { type: 'PaymentIntentPaymentReturned', data: { ...money, purpose: plainPurpose } },
    ],
    when: charge(1),
    then: [
      {
        type: 'PaymentIntentRefundChargeRefused',
        data: { refund, attempt: 1, reason: 'An intent that is failed has nothing to refund' },
      },
    ],
  },
})
