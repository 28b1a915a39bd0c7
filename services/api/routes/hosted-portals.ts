import { LanguageQuery, LeavingQuery, PaidQuery } from '../../../packages/contract/payments/hosted-pages.ts'
import { perform } from '../../../packages/contract/routes.ts'
import { section } from '../../../packages/contract/section.ts'
import { record } from '../../../packages/contract/vocabulary.ts'
import { invoiceFormExamples } from '../../../packages/domain/invoices/examples.ts'
import { topupFormExamples, walletFormExamples } from '../../../packages/domain/wallets/examples.ts'
import { PaymentForm, promptedBy } from '../actions/hosted/hosted-payment.ts'
import {
  cancelFromPage,
  customerOfPortal,
  HostedPortal,
  hostedPortal,
} from '../actions/hosted/hosted-portal.ts'
import {
  HostedTopup,
  hostedTopup,
  payTopup,
  TopupForm,
  topUpFromPage,
  TopupStanding,
  topupStanding,
} from '../actions/hosted/hosted-topup.ts'
import { payByWalletFromPage, WalletForm } from '../actions/hosted/hosted-wallet.ts'
import { backToPortal, portalPage, refusedPortal } from '../pages/portal.ts'
import { backToTopup, refusedTopup, topupPage, toTopup } from '../pages/topup.ts'
import { refusalsOfConfirming } from './confirming.ts'

/** Whoever was given the address of a portal is its customer. */
const customers = {
  scope: 'public',
  inferred: true,
  token: 'token',
  actsFor: customerOfPortal,
  query: LanguageQuery,
  returns: HostedPortal,
  refusedPage: refusedPortal,
} as const

const payers = {
  ...customers,
  params: { token: 'text', id: 'wallet_topup' },
  returns: HostedTopup,
  refusedPage: refusedTopup,
} as const

const closed = ['portal_token_must_be_valid', 'portal_must_allow_it'] as const

const rows = [
  perform('GET /portal/{token}', {
    ...customers,
    params: { token: 'text' },
    summary: "The page of a customer's portal; JSON for programs",
    refusals: ['portal_token_must_be_valid'],
    page: portalPage,
    action: hostedPortal,
  }),

  perform('POST /portal/{token}/subscriptions/{id}/cancel', {
    ...customers,
    params: { token: 'text', id: 'subscription' },
    summary: 'Cancel at the end of the period, from the page',
    form: true,
    isCostly: true,
    refusals: [
      'portal_token_must_be_valid',
      'portal_must_allow_it',
      'subscription_must_be_running',
      'merchant_must_not_be_suspended',
    ],
    page: backToPortal,
    action: cancelFromPage,
  }),

  perform('POST /portal/{token}/invoices/{id}/wallet', {
    ...customers,
    params: { token: 'text', id: 'invoice' },
    summary: 'Pay what is left of an invoice from the wallet, as far as it goes, from the page',
    form: true,
    isCostly: true,
    body: WalletForm,
    examples: walletFormExamples,
    refusals: [
      ...closed,
      'checkout_amount_must_be_known',
      'wallet_must_cover_the_amount',
      'dependency_must_answer_in_time',
      'invoice_state_must_allow_it',
      'resource_must_not_have_changed',
      'merchant_must_not_be_suspended',
    ],
    page: backToPortal,
    action: payByWalletFromPage,
  }),

  perform('POST /portal/{token}/topups', {
    ...customers,
    params: { token: 'text' },
    summary: 'Put money into the wallet, from the form of the page: it is paid on a page of its own',
    form: true,
    isCostly: true,
    body: TopupForm,
    examples: topupFormExamples,
    returns: HostedTopup,
    refusals: [
      ...closed,
      'checkout_amount_must_be_known',
      'payment_must_be_eligible',
      'live_provider_must_be_configured',
      'merchant_must_not_be_suspended',
    ],
    page: toTopup,
    action: topUpFromPage,
  }),

  perform('GET /portal/{token}/topups/{id}', {
    ...payers,
    summary: 'The page of a top-up, on which it can be paid; JSON for programs',
    query: PaidQuery,
    refusals: closed,
    page: topupPage,
    action: hostedTopup,
  }),

  perform('GET /portal/{token}/topups/{id}/status', {
    ...payers,
    summary: 'A small answer to ask for again and again: how the payment stands',
    query: record({}),
    returns: TopupStanding,
    refusals: closed,
    action: topupStanding,
  }),

  perform('POST /portal/{token}/topups/{id}/pay', {
    ...payers,
    summary: 'Pay a top-up, from the form of its page; what is under way is answered as it is',
    form: true,
    isCostly: true,
    body: PaymentForm,
    prompts: promptedBy,
    examples: invoiceFormExamples,
    query: LeavingQuery,
    refusals: [...closed, ...refusalsOfConfirming, 'merchant_must_not_be_suspended'],
    page: backToTopup,
    action: payTopup,
  }),
]

export const hostedPortalRoutes = section(
  'Pages of portals',
  'Where `url` of a portal session leads: the customer sees and pays invoices, cancels ' +
    'subscriptions and tops up the wallet.',
  rows,
)
