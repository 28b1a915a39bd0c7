import { IdentityFilter } from '../../../packages/contract/lists/envelope.ts'
import { change, create, history, list, listItems, perform, show } from '../../../packages/contract/routes.ts'
import { section } from '../../../packages/contract/section.ts'
import { AmountMinor, Timestamp } from '../../../packages/contract/vocabulary.ts'
import {
  confirmationExamples,
  intentExamples,
  revisionExamples,
} from '../../../packages/domain/payment-intents/examples.ts'
import { paymentIntent } from '../../../packages/domain/payment-intents/payment-intent.ts'
import {
  ConfirmationRequest,
  PaymentIntentRequest,
  PaymentIntentResource,
  PaymentIntentRevision,
  PaymentIntentStatus,
  viewPaymentIntent,
} from '../../../packages/domain/payment-intents/resource.ts'
import { TimelineEntry } from '../../../packages/domain/payment-intents/timeline.ts'
import { paymentIntents } from '../../../projections/payment-intents.ts'
import { confirmPaymentIntent, prepareIntent } from '../actions/payment-intents.ts'
import { timelineItems, TimelineQuery } from '../actions/payments.ts'
import { refusalsOfConfirming } from './confirming.ts'

const named = { params: { id: 'payment_intent' } } as const
const viewed = { view: viewPaymentIntent, returns: PaymentIntentResource } as const

const rows = [
  create('POST /api/v1/payment-intents', {
    ...viewed,
    summary: 'Create a payment intent; a customer is found or created from e-mail or phone',
    scope: 'payments.write',
    body: PaymentIntentRequest,
    examples: intentExamples,
    decider: paymentIntent,
    command: 'CreateIntent',
    prepare: prepareIntent,
    // Else a customer may be created before.
    comesFirst: ({ customer_email, customer_phone }) => !customer_email && !customer_phone,
    refusals: ['payment_must_be_eligible', 'customer_must_exist', 'live_provider_must_be_configured'],
  }),

  show('GET /api/v1/payment-intents/{id}', {
    ...named,
    ...viewed,
    summary: 'One payment intent',
    scope: 'payments.read',
    from: paymentIntents,
  }),

  change('PATCH /api/v1/payment-intents/{id}', {
    ...named,
    ...viewed,
    summary: 'Change the description; add, replace or remove keys of the metadata',
    scope: 'payments.write',
    body: PaymentIntentRevision,
    examples: revisionExamples,
    decider: paymentIntent,
    command: 'AnnotateIntent',
  }),

  perform('POST /api/v1/payment-intents/{id}/confirm', {
    ...named,
    isChange: true,
    summary: 'Start the payment at the provider; a state that cannot be confirmed is answered unchanged',
    scope: 'payments.write',
    body: ConfirmationRequest,
    examples: confirmationExamples,
    returns: PaymentIntentResource,
    refusals: ['resource_must_exist', ...refusalsOfConfirming],
    action: confirmPaymentIntent,
  }),

  change('POST /api/v1/payment-intents/{id}/cancel', {
    ...named,
    ...viewed,
    summary: 'Cancel before the payer has paid; a canceled one is answered unchanged',
    scope: 'payments.write',
    decider: paymentIntent,
    command: 'CancelIntent',
    data: () => ({}),
    refusals: ['intent_must_be_cancelable'],
  }),

  list('GET /api/v1/payment-intents', {
    ...viewed,
    summary: 'Payment intents, newest first',
    scope: 'payments.read',
    from: paymentIntents,
    paging: 'cursor',
    filter: { status: PaymentIntentStatus, customer: IdentityFilter },
    ranges: { amount: AmountMinor, created_at: Timestamp },
  }),

  listItems('GET /api/v1/payment-intents/{id}/timeline', {
    ...named,
    summary: 'What happened to the intent: each step, provider attempt and operation',
    scope: 'payments.read',
    inferred: true,
    query: TimelineQuery,
    returns: TimelineEntry,
    items: timelineItems,
  }),

  history('GET /api/v1/payment-intents/{id}/history', {
    ...viewed,
    params: { id: ['payment_intent', 'payment'] },
    scope: 'payments.read',
    from: paymentIntents,
  }),
]

export const paymentIntentRoutes = section(
  'Payment intents',
  "A payment intent collects one payment. Create it, confirm it with the payer's mobile money number or " +
    'card token, then wait for a webhook or read it again. Confirming an intent that is already under way ' +
    'answers the intent as it is and never calls the operator twice.',
  rows,
)
