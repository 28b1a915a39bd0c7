import type { PaymentIntentEvents } from '../../packages/domain/payment-intents/events.ts'
import { paymentIntent } from '../../packages/domain/payment-intents/payment-intent.ts'
import { plainPlan, plainPurpose } from '../../packages/domain/ledger/plans.ts'
import type { Message } from '../../packages/kernel/decider.ts'
import { scenarios } from '../support/scenarios.ts'

const created: Message<PaymentIntentEvents> = {
  type: 'PaymentIntentCreated',
  data: {
    amount: 5_000,
    currency: 'XOF',
    transactionCountry: 'SN',
    payerCountry: null,
    railCountry: null,
    description: null,
    customer: null,
    metadata: {},
    purpose: plainPurpose,
    plan: plainPlan(5_000),
  },
}

scenarios(paymentIntent, {
  'null clears the description and all of the metadata': {
    given: [
      created,
      { type: 'PaymentIntentAnnotated', data: { description: 'Two shirts', metadata: { a: '1', b: '2' } } },
    ],
    when: { type: 'AnnotateIntent', data: { description: null, metadata: null } },
    then: [{ type: 'PaymentIntentAnnotated', data: { metadata: { a: null, b: null }, description: null } }],
  },
  'null or an empty text removes a key, and reserved keys are left to us': {
    given: [created, { type: 'PaymentIntentAnnotated', data: { metadata: { a: '1', b: '2', c: '3' } } }],
    when: { type: 'AnnotateIntent', data: { metadata: { a: null, b: '', Environment: null, d: null } } },
    then: [{ type: 'PaymentIntentAnnotated', data: { metadata: { a: null, b: null } } }],
  },
})
