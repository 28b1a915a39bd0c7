import { CheckoutQuery, LanguageQuery } from '../../../packages/contract/payments/hosted-pages.ts'
import { IdentityFilter } from '../../../packages/contract/lists/envelope.ts'
import { create, history, list, perform, show } from '../../../packages/contract/routes.ts'
import { section } from '../../../packages/contract/section.ts'
import { AmountMinor, Timestamp, type Static } from '../../../packages/contract/vocabulary.ts'
import type { Asked } from '../../../packages/contract/row.ts'
import { checkoutSession, type CheckoutSession } from '../../../packages/domain/checkout/checkout-session.ts'
import {
  checkoutFormExamples,
  checkoutPaymentExamples,
  checkoutSessionExamples,
} from '../../../packages/domain/checkout/examples.ts'
import {
  CheckoutSessionRequest,
  CheckoutSessionResource,
  CheckoutSessionStatus,
  CheckoutStatus,
  HostedCheckout,
  Receipt,
  viewCheckoutSession,
} from '../../../packages/domain/checkout/resource.ts'
import { checkoutSessions } from '../../../projections/checkout.ts'
import {
  CheckoutFormRequest,
  CheckoutPayment,
  CheckoutPayRequest,
  payCheckout,
  payCheckoutForm,
} from '../actions/hosted/checkout-pay.ts'
import {
  createFirstAttempt,
  paymentOf,
  prepareSession,
  quoteSession,
  SessionFeeRequest,
} from '../actions/checkout-sessions.ts'
import {
  cancelCheckout,
  checkoutReceipt,
  checkoutStatus,
  hostedCheckout,
  ownerOfSession,
  retryCheckout,
} from '../actions/hosted/checkout.ts'
import { FeeQuoteResource } from '../actions/fees.ts'
import { backToCheckout, checkoutPage, refusedCheckout } from '../pages/checkout.ts'
import { refusalsOfConfirming } from './confirming.ts'

/** When a payment cannot be taken back from a session any more. */
const notEnded = ['checkout_session_must_be_open', 'checkout_payment_must_not_be_under_way'] as const
const named = { params: { id: 'checkout_session' } } as const
const missing = 'checkout_session_must_exist'
const viewed = {
  view: (id: string, state: CheckoutSession) => viewCheckoutSession(id, state),
  returns: CheckoutSessionResource,
} as const
/** With how the newest try to pay stands. */
const joined = {
  ...viewed,
  view: viewCheckoutSession,
  beside: (request: Asked, _: string, state: CheckoutSession) => paymentOf(request, state),
  from: checkoutSessions,
} as const

/** Whoever knows the session's id is its payer. */
const payers = {
  scope: 'public',
  params: { sessionId: 'checkout_session' },
  token: 'sessionId',
  actsFor: ownerOfSession,
} as const

const ofPaying = [
  missing,
  'checkout_session_must_be_payable',
  'method_must_be_offered',
  'checkout_amount_must_be_known',
  ...refusalsOfConfirming,
  'payment_link_must_not_be_in_use',
  'merchant_must_not_be_suspended',
] as const

/** A form of the page leads back to the page. */
const pressed = { page: backToCheckout, refusedPage: refusedCheckout } as const

const merchants = [
  create('POST /api/v1/checkout/sessions', {
    ...viewed,
    summary: 'Open a checkout session and its page',
    scope: 'payments.write',
    body: CheckoutSessionRequest,
    examples: checkoutSessionExamples,
    decider: checkoutSession,
    command: 'OpenSession',
    prepare: prepareSession,
    after: createFirstAttempt,
    secretId: true,
    refusals: [
      'payment_must_be_eligible',
      'method_must_be_offered',
      'checkout_amount_must_be_known',
      'payment_link_must_be_open',
      'resource_must_exist',
      'live_provider_must_be_configured',
    ],
  }),

  list('GET /api/v1/checkout/sessions', {
    ...joined,
    summary: 'Checkout sessions, newest first',
    scope: 'payments.read',
    inferred: true,
    paging: 'cursor',
    filter: { status: CheckoutSessionStatus, payment_link: IdentityFilter, customer: IdentityFilter },
    ranges: { amount: AmountMinor, created_at: Timestamp },
  }),

  show('GET /api/v1/checkout/sessions/{id}', {
    ...named,
    ...joined,
    summary: 'One checkout session',
    scope: 'payments.read',
    refusals: [missing],
  }),

  perform('POST /api/v1/checkout/sessions/{id}/fee_quote', {
    ...named,
    summary: 'What this session costs by one method; nothing is stored',
    scope: 'payments.read',
    body: SessionFeeRequest,
    returns: FeeQuoteResource,
    refusals: [
      missing,
      'method_must_be_offered',
      'checkout_amount_must_be_known',
      'payment_must_be_eligible',
    ],
    action: quoteSession,
  }),

  history('GET /api/v1/checkout/sessions/{id}/history', {
    ...named,
    ...viewed,
    scope: 'payments.read',
    from: checkoutSessions,
    refusals: [missing],
  }),
]

const ofPayers = [
  perform('GET /api/checkout/{sessionId}', {
    ...payers,
    summary: 'What a page for the payer needs: merchant, amount, methods, operators, status',
    returns: HostedCheckout,
    refusals: [missing],
    action: hostedCheckout,
  }),

  perform('POST /api/checkout/{sessionId}/pay', {
    ...payers,
    summary: 'Pay the session; what is under way or paid is answered as it is',
    isCostly: true,
    prompts: ({ payment_method }: Static<typeof CheckoutPayRequest>) => payment_method?.mobile_money?.msisdn,
    body: CheckoutPayRequest,
    examples: checkoutPaymentExamples,
    returns: CheckoutPayment,
    refusals: ofPaying,
    action: payCheckout,
  }),

  perform('POST /api/checkout/{sessionId}/cancel', {
    ...payers,
    summary: 'The payer gives up; the answer says where to go',
    returns: HostedCheckout,
    refusals: [missing, ...notEnded],
    action: cancelCheckout,
  }),

  perform('GET /api/checkout/{sessionId}/receipt', {
    ...payers,
    summary: 'The receipt of a session that was paid',
    returns: Receipt,
    refusals: [missing, 'checkout_session_must_be_paid'],
    action: checkoutReceipt,
  }),

  perform('GET /api/checkout/{sessionId}/status', {
    ...payers,
    summary: 'A small answer to ask for again and again: how it stands, and where to go next',
    inferred: true,
    returns: CheckoutStatus,
    refusals: [missing],
    action: checkoutStatus,
  }),

  perform('GET /checkout/session/{sessionId}', {
    ...payers,
    summary: 'The page for the payer; JSON for programs',
    query: CheckoutQuery,
    returns: HostedCheckout,
    refusals: [missing],
    page: checkoutPage,
    refusedPage: refusedCheckout,
    action: hostedCheckout,
  }),

  perform('POST /checkout/session/{sessionId}/pay', {
    ...payers,
    summary: 'Pay from the form of the page',
    form: true,
    isCostly: true,
    prompts: ({ PhoneNumber }: Static<typeof CheckoutFormRequest>) => PhoneNumber?.replaceAll(/\D/g, ''),
    body: CheckoutFormRequest,
    examples: checkoutFormExamples,
    query: LanguageQuery,
    returns: CheckoutPayment,
    refusals: ofPaying,
    ...pressed,
    action: payCheckoutForm,
  }),

  perform('POST /checkout/session/{sessionId}/cancel', {
    ...payers,
    summary: 'Give up from the page',
    inferred: true,
    form: true,
    query: LanguageQuery,
    returns: HostedCheckout,
    refusals: [missing, ...notEnded],
    ...pressed,
    action: cancelCheckout,
  }),

  perform('POST /checkout/session/{sessionId}/retry', {
    ...payers,
    summary: "Leave the operator's page, to pay another way",
    inferred: true,
    form: true,
    query: LanguageQuery,
    returns: HostedCheckout,
    refusals: [missing, ...notEnded],
    ...pressed,
    action: retryCheckout,
  }),
]

export const checkoutRoutes = section(
  'Checkout',
  'A page of ours on which a payer pays you: open a session, send the payer to its `url`, and wait for ' +
    '`checkout_session.completed`. The payer may try as often as needed, and pays once. ' +
    'Or build the page yourself: the operations without a key do all that ours does.',
  [...merchants, ...ofPayers],
)
