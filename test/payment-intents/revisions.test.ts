import { paymentIntent } from '../../packages/domain/payment-intents/payment-intent.ts'
import { created } from '../support/payments/payment-events.ts'
import { scenarios } from '../support/scenarios.ts'

scenarios(paymentIntent, {
  'null clears the description and all of the metadata': {
    given: [
      created,
      {
        type: 'PaymentIntentAnnotated',
        data: { customer: null, description: 'Two shirts', metadata: { a: '1', b: '2' } },
      },
    ],
    when: { type: 'AnnotateIntent', data: { description: null, metadata: null } },
    then: [
      {
        type: 'PaymentIntentAnnotated',
        data: { customer: null, metadata: { a: null, b: null }, description: null },
      },
    ],
  },
  'null or an empty text removes a key, and reserved keys are left to us': {
    given: [
      created,
      { type: 'PaymentIntentAnnotated', data: { customer: null, metadata: { a: '1', b: '2', c: '3' } } },
    ],
    when: { type: 'AnnotateIntent', data: { metadata: { a: null, b: '', Environment: null, d: null } } },
    then: [{ type: 'PaymentIntentAnnotated', data: { customer: null, metadata: { a: null, b: null } } }],
  },
})
