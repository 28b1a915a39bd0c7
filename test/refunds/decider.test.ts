import type { RefundEvents } from '../../packages/domain/refunds/events.ts'
import { refund } from '../../packages/domain/refunds/refund.ts'
import type { Message } from '../../packages/kernel/decider.ts'
import { scenarios } from '../support/scenarios.ts'

type Event = Message<RefundEvents>

const paymentIntent = '0190a1b2-0000-7000-8000-0000000000aa'
const money = { paymentIntent, amount: 2_000, currency: 'XOF', rail: 'card' }
const shares = [{ account: 'wallet:ama', amount: 2_000 } as const]
const request = { ...money, shares, reason: 'duplicate', method: { type: 'card', token: 'tok_ok' } } as const

const requested: Event = { type: 'RefundRequested', data: request }
const succeeded: Event = { type: 'RefundSucceeded', data: money }
const failed: Event = {
  type: 'RefundFailed',
  data: { ...money, code: 'could_not_process', message: 'No' },
}
const chargeRequested: Event = { type: 'RefundChargeRequested', data: { ...money, attempt: 1 } }
const paidLate: Event = { type: 'RefundPaidLate', data: money }
const returned: Event = { type: 'RefundReturned', data: { ...money, shares, message: 'It came back' } }
const abandoned: Event = { type: 'RefundAbandoned', data: { paymentIntent } }

scenarios(refund, {
  'a refund is pending when it is requested': {
    when: { type: 'RequestRefund', data: request },
    then: [requested],
  },
  'a refund succeeds when the provider has paid it back': {
    given: [requested],
    when: { type: 'SettleRefund', data: {} },
    then: [succeeded],
  },
  'a refund fails when the provider refuses it': {
    given: [requested],
    when: { type: 'FailRefund', data: { code: 'could_not_process', message: 'No' } },
    then: [failed],
  },
  'a refund that has succeeded does not fail any more': {
    given: [requested, succeeded],
    when: { type: 'FailRefund', data: { code: 'could_not_process', message: 'No' } },
    then: [],
  },
  'a refund that has failed does not succeed any more': {
    given: [requested, failed],
    when: { type: 'SettleRefund', data: {} },
    then: [],
  },
  'what comes back from the payer goes to the accounts that gave it': {
    given: [requested, succeeded],
    when: { type: 'ContradictRefund', data: { word: 'returned', isConfirmed: true } },
    then: [
      {
        type: 'RefundResultContradicted',
        data: { ...money, recorded: 'succeeded', word: 'returned', remedy: 'give_back' },
      },
      {
        type: 'RefundReturned',
        data: { ...money, shares, message: 'The money came back from the payer' },
      },
    ],
  },
  'a failed refund that the payer has after all is charged': {
    given: [requested, failed],
    when: { type: 'ContradictRefund', data: { word: 'succeeded', isConfirmed: true } },
    then: [
      {
        type: 'RefundResultContradicted',
        data: { ...money, recorded: 'failed', word: 'succeeded', remedy: 'charge' },
      },
      { type: 'RefundChargeRequested', data: { ...money, attempt: 1 } },
    ],
  },
  'a refund that is being charged is not charged twice': {
    given: [requested, failed, chargeRequested],
    when: { type: 'ChargeRefund', data: {} },
    then: [],
  },
  'a person may ask again for a charge that was refused': {
    given: [
      requested,
      failed,
      chargeRequested,
      { type: 'RefundChargeRefused', data: { ...money, reason: 'Too little' } },
    ],
    when: { type: 'ChargeRefund', data: {} },
    then: [{ type: 'RefundChargeRequested', data: { ...money, attempt: 2 } }],
  },
  'what the balance alone does not cover is refunded all the same': {
    given: [requested, failed, chargeRequested],
    when: { type: 'RefuseCharge', data: { reason: 'Too little', isCounted: true } },
    then: [
      { type: 'RefundChargeRefused', data: { ...money, reason: 'Too little' } },
      { type: 'RefundPaidLate', data: money },
    ],
  },
  'what the payment does not cover stays failed': {
    given: [requested, failed, chargeRequested],
    when: { type: 'RefuseCharge', data: { reason: 'Too little', isCounted: false } },
    then: [{ type: 'RefundChargeRefused', data: { ...money, reason: 'Too little' } }],
  },
  'each charge has a number of its own, also after one was paid and came back': {
    given: [requested, failed, chargeRequested, paidLate, returned],
    when: { type: 'ChargeRefund', data: {} },
    then: [{ type: 'RefundChargeRequested', data: { ...money, attempt: 2 } }],
  },
  'what was never charged is not given back: it is a case': {
    given: [
      requested,
      failed,
      chargeRequested,
      { type: 'RefundChargeRefused', data: { ...money, reason: 'Too little' } },
      paidLate,
    ],
    when: { type: 'ContradictRefund', data: { word: 'returned', isConfirmed: true } },
    then: [
      {
        type: 'RefundResultContradicted',
        data: { ...money, recorded: 'succeeded', word: 'returned', remedy: 'case' },
      },
    ],
  },
  'a refund that nobody requested in time is abandoned': {
    when: { type: 'AbandonRefund', data: { paymentIntent } },
    then: [abandoned],
  },
  'a refund that was requested in time is not abandoned': {
    given: [requested],
    when: { type: 'AbandonRefund', data: { paymentIntent } },
    then: [],
  },
  'an abandoned refund is not requested any more': {
    given: [abandoned],
    when: { type: 'RequestRefund', data: request },
    then: 'refund_must_not_be_abandoned',
  },
  'a refund whose outcome nobody learns is a case for the support, once': {
    given: [requested],
    when: { type: 'EscalateRefund', data: {} },
    then: [{ type: 'RefundEscalated', data: {} }],
  },
})
