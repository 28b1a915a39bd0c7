import { created, paidFor, reserve, wanted } from '../support/payments/payment-events.ts'
import type { PaymentIntentEvents } from '../../packages/domain/payment-intents/events.ts'
import {
  paymentIntent,
  type PaymentIntentCommands,
} from '../../packages/domain/payment-intents/payment-intent.ts'
import { derivedId } from '../../packages/contract/identity.ts'
import type { Message } from '../../packages/kernel/decider.ts'
import { context, scenarios } from '../support/scenarios.ts'

type Event = Message<PaymentIntentEvents>
type Command = Message<PaymentIntentCommands>

const { id } = context
const at = '2026-01-01T12:00:00.000Z'
const operationId = derivedId(id, 'confirmation 1')
const secondOperationId = derivedId(id, 'confirmation 2')
const msisdn = '+221770000000'
const orange = { type: 'mobile_money', country: 'SN', operator: 'orange_money', msisdn } as const
const card = { type: 'card', token: 'tok_ok' } as const
/** What the history keeps of it. */
const keptCard = { type: 'card', token: '…k_ok' } as const
const refund = '0190a1b2-0000-7000-8000-00000000000f'

function createWith(change: Partial<PaymentIntentCommands['CreateIntent']>): Command {
  return { type: 'CreateIntent', data: { ...wanted, metadata: {}, ...change } }
}

function confirm(method: PaymentIntentCommands['ConfirmIntent']['method']): Command {
  const statusPages = 'https://pay.test/operations/status'
  const data = { method, preferredFlow: null, returnUrl: null, statusPages }
  return { type: 'ConfirmIntent', data }
}

function started(method: typeof orange | typeof keptCard, operation = operationId): Event {
  const statusUrl = `https://pay.test/operations/status/op_${operation.replaceAll('-', '')}`
  const times = { leaseUntil: '2026-01-01T12:01:00.000Z' }
  const data = { ...times, operationId: operation, method, preferredFlow: null, returnUrl: null, statusUrl }
  return { type: 'PaymentIntentConfirmationStarted', data }
}

const locked = [created, started(orange)]
const submitted: Event = {
  type: 'PaymentIntentSubmitted',
  data: { operationId, expiresAt: '2026-01-01T12:05:00.000Z' },
}
const redirected: Event = {
  type: 'PaymentIntentActionRequired',
  data: { operationId, url: 'https://wallet.test/1', expiresAt: '2026-01-01T12:15:00.000Z' },
}
const aborted: Event = { type: 'PaymentIntentConfirmationAborted', data: { operationId } }
const money = { operationId, amount: 5_000, currency: 'XOF', rail: 'mobile_money.SN.orange_money' }
const succeeded = paidFor({ ...money, fee: 100, availableOn: at })
const purpose = { type: 'payment', id: null } as const
const failed: Event = {
  type: 'PaymentIntentFailed',
  data: {
    operationId,
    rail: money.rail,
    code: 'payer_declined',
    message: 'The payer declined',
    purpose,
  },
}
const canceled: Event = { type: 'PaymentIntentCanceled', data: { operationId, purpose } }
const lateRefund = derivedId(operationId, 'late refund')
const paidLate: Event = {
  type: 'PaymentIntentLateSuccessRecorded',
  data: { ...money, method: orange, refund: lateRefund },
}
const reserved = reserve(refund, 2_000)
const refunded: Event = { type: 'PaymentIntentRefunded', data: { refund, amount: 2_000 } }
const paid = [...locked, submitted, succeeded]

const complete: Command = { type: 'CompletePayment', data: { operationId } }
const fail: Command = {
  type: 'FailPayment',
  data: { operationId, code: 'payer_declined', message: 'The payer declined' },
}
const cancel: Command = { type: 'CancelIntent', data: {} }

scenarios(paymentIntent, {
  'a fresh intent waits for a payment method': { when: createWith({}), then: [created] },
  'values that are no strings and reserved keys are not kept in metadata': {
    when: createWith({
      metadata: { order: '7', count: 7, Environment: 'x', 'internal.a': 'x', 'country_context.c': 'x' },
    }),
    then: [{ type: 'PaymentIntentCreated', data: { ...created.data, metadata: { order: '7' } } as never }],
  },
  'a country in which nothing can be paid is not eligible': {
    when: createWith({ transactionCountry: 'FR', currency: 'EUR' }),
    then: 'payment_must_be_eligible',
  },
  'a currency that cannot be paid in the country is not eligible': {
    when: createWith({ currency: 'GNF' }),
    then: 'payment_must_be_eligible',
  },
  'metadata keys are added or replaced in any state': {
    given: [
      ...paid,
      { type: 'PaymentIntentAnnotated', data: { customer: null, metadata: { a: '1', b: '2' } } },
    ],
    when: { type: 'AnnotateIntent', data: { metadata: { a: '1', b: '3', n: 4 }, description: 'Two shirts' } },
    then: [
      {
        type: 'PaymentIntentAnnotated',
        data: { customer: null, metadata: { b: '3' }, description: 'Two shirts' },
      },
    ],
  },
  'metadata cannot grow beyond fifty keys': {
    given: [created],
    when: {
      type: 'AnnotateIntent',
      data: { metadata: Object.fromEntries(Array.from({ length: 51 }, (_, index) => [`k${index}`, 'v'])) },
    },
    then: 'request_must_be_valid',
  },

  'a confirmation locks the intent': {
    given: [created],
    when: confirm(orange),
    then: [started(orange)],
    again: 'confirmation_must_be_the_only_one',
  },
  'mobile money must be of the transaction country': {
    given: [created],
    when: confirm({ ...orange, country: 'CI' }),
    then: 'method_country_must_be_the_transactions',
  },
  'an operator must be known in the country': {
    given: [created],
    when: confirm({ ...orange, operator: 'mtn' }),
    then: 'payment_method_must_be_valid',
  },
  'a number must be one of the country': {
    given: [created],
    when: confirm({ ...orange, msisdn: '+2217700' }),
    then: 'payment_method_must_be_valid',
  },
  'a processing intent is answered unchanged by another confirmation': {
    given: [...locked, submitted],
    when: confirm(orange),
    then: [],
  },
  'an intent that requires an action is answered unchanged by another confirmation': {
    given: [...locked, redirected],
    when: confirm(orange),
    then: [],
  },
  'a succeeded intent is answered unchanged by another confirmation': {
    given: paid,
    when: confirm(card),
    then: [],
  },
  'a failed intent is answered unchanged by another confirmation': {
    given: [...locked, submitted, failed],
    when: confirm(orange),
    then: [],
  },
  'a canceled intent is answered unchanged by another confirmation': {
    given: [created, { type: 'PaymentIntentCanceled', data: { operationId: null, purpose } }],
    when: confirm(orange),
    then: [],
  },
  'an aborted confirmation frees the intent for another one, under another operation': {
    given: [...locked, aborted],
    when: confirm(card),
    then: [started(keptCard, secondOperationId)],
    again: 'confirmation_must_be_the_only_one',
  },

  'an accepted confirmation is processing': {
    given: locked,
    when: { type: 'RecordAcceptance', data: { operationId } },
    then: [submitted],
  },
  'a provider that wants the browser of the payer makes the intent require an action': {
    given: locked,
    when: { type: 'RecordRedirect', data: { operationId, url: 'https://wallet.test/1' } },
    then: [redirected],
  },
  'a confirmation that the provider surely has not taken is aborted': {
    given: locked,
    when: { type: 'AbortConfirmation', data: { operationId } },
    then: [aborted],
  },
  'what the provider has taken is not aborted': {
    given: [...locked, submitted],
    when: { type: 'AbortConfirmation', data: { operationId } },
    then: [],
  },

  'a paid intent succeeds with its fee': { given: [...locked, submitted], when: complete, then: [succeeded] },
  'a callback that is faster than the answer to the confirmation counts': {
    given: locked,
    when: complete,
    then: [submitted, succeeded],
  },
  'money from a card is available after two days': {
    given: [created, started(keptCard), submitted],
    when: complete,
    then: [paidFor({ ...money, rail: 'card', fee: 245, availableOn: '2026-01-03T12:00:00.000Z' })],
  },
  'a declined payment fails': { given: [...locked, submitted], when: fail, then: [failed] },
  'a failure that is reported after the success changes nothing': { given: paid, when: fail, then: [] },
  'money that arrives after the failure is recorded to be given back': {
    given: [...locked, submitted, failed],
    when: complete,
    then: [paidLate],
  },
  'money that arrives after the cancel is recorded to be given back': {
    given: [...locked, redirected, canceled],
    when: complete,
    then: [paidLate],
  },
  'money that an aborted confirmation has taken nevertheless is recorded to be given back': {
    given: [...locked, aborted],
    when: complete,
    then: [paidLate],
  },
  'late money is given back once': {
    given: [...locked, submitted, failed, paidLate],
    when: { type: 'RecordLateRefund', data: { operationId, reference: lateRefund } },
    then: [
      {
        type: 'PaymentIntentLateSuccessRefunded',
        data: { ...money, refund: lateRefund, nth: 1, underWay: null },
      },
    ],
  },

  'a fresh intent can be canceled': {
    given: [created],
    when: cancel,
    then: [{ type: 'PaymentIntentCanceled', data: { operationId: null, purpose } }],
  },
  'an intent that waits for the browser of the payer can be canceled': {
    given: [...locked, redirected],
    when: cancel,
    then: [canceled],
  },
  'an intent whose confirmation runs cannot be canceled': {
    given: locked,
    when: cancel,
    then: 'intent_must_be_cancelable',
  },
  'a processing intent cannot be canceled': {
    given: [...locked, submitted],
    when: cancel,
    then: 'intent_must_be_cancelable',
  },
  'a succeeded intent cannot be canceled': { given: paid, when: cancel, then: 'intent_must_be_cancelable' },
  'a failed intent cannot be canceled': {
    given: [...locked, submitted, failed],
    when: cancel,
    then: 'intent_must_be_cancelable',
  },

  'a part of a payment is reserved for a refund': {
    given: paid,
    when: { type: 'ReserveRefund', data: { refund, amount: 2_000 } },
    then: [reserved],
  },
  'a refund without an amount takes what is left': {
    given: [...paid, reserved],
    when: { type: 'ReserveRefund', data: { refund: operationId } },
    then: [reserve(operationId, 3_000)],
  },
  'refunds in flight and done cannot exceed the payment': {
    given: [...paid, reserved, refunded],
    when: { type: 'ReserveRefund', data: { refund: operationId, amount: 3_001 } },
    then: 'refund_must_not_exceed_the_payment',
  },
  'a payment of which nothing is left cannot be refunded': {
    given: [...paid, reserve(refund, 5_000)],
    when: { type: 'ReserveRefund', data: { refund: operationId } },
    then: 'payment_must_be_refundable',
  },
  'an intent that has not succeeded cannot be refunded': {
    given: [...locked, submitted],
    when: { type: 'ReserveRefund', data: { refund } },
    then: 'payment_must_be_refundable',
  },
  'what a failed refund had reserved can be refunded again': {
    given: [...paid, reserved, { type: 'PaymentIntentRefundReleased', data: { refund } }],
    when: { type: 'ReserveRefund', data: { refund: operationId } },
    then: [reserve(operationId, 5_000)],
  },
  'a refund that is done is not released': {
    given: [...paid, reserved, refunded],
    when: { type: 'ReleaseRefund', data: { refund } },
    then: [],
  },
  'a payment learns that a refund is done': {
    given: [...paid, reserved],
    when: { type: 'RecordRefund', data: { refund } },
    then: [refunded],
  },
})
