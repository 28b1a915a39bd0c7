import { customerOf, type Caller } from '../../../packages/contract/access/callers.ts'
import { change, create, list, perform, show } from '../../../packages/contract/routes.ts'
import { section } from '../../../packages/contract/section.ts'
import { maybe, proseText, record, type Static } from '../../../packages/contract/vocabulary.ts'
import { InvoiceStatus } from '../../../packages/domain/invoices/resource.ts'
import {
  portalCancelExamples,
  portalExamples,
  portalPayExamples,
} from '../../../packages/domain/portal/examples.ts'
import { portalSession } from '../../../packages/domain/portal/portal-session.ts'
import {
  NewPortalSession,
  PortalRequest,
  PortalSessionResource,
  viewPortalSession,
} from '../../../packages/domain/portal/resource.ts'
import { topupExamples } from '../../../packages/domain/wallets/examples.ts'
import {
  viewWalletTopup,
  WalletResource,
  WalletTopupResource,
} from '../../../packages/domain/wallets/resource.ts'
import { subscription } from '../../../packages/domain/subscriptions/subscription.ts'
import { invoices } from '../../../projections/invoices.ts'
import { payments } from '../../../projections/payment-intents.ts'
import { subscriptions } from '../../../projections/subscriptions.ts'
import { walletTopups } from '../../../projections/wallets.ts'
import {
  besideOpen,
  besideSession,
  CustomerInvoice,
  CustomerInvoicePayment,
  CustomerPayment,
  CustomerSubscription,
  invoicesOf,
  payFromPortal,
  PortalPayRequest,
  prepareSession,
  viewCustomerInvoice,
  viewCustomerPayment,
  viewCustomerSubscription,
  viewNewPortalSession,
} from '../actions/billing/portal.ts'
import {
  AskedTopup,
  ownWallet,
  TopupRequest,
  topUpWallet,
  WalletQuery,
} from '../actions/billing/portal-wallet.ts'
import { prepareCancel } from '../actions/billing/usage.ts'

const merchants = [
  create('POST /api/v1/customer-portal/sessions', {
    summary: 'Open the portal for one customer, for an hour; the token is shown once',
    scope: 'customers.write',
    body: PortalRequest,
    examples: portalExamples,
    decider: portalSession,
    command: 'OpenPortal',
    prepare: prepareSession,
    beside: besideOpen,
    view: viewNewPortalSession,
    returns: NewPortalSession,
    showsSecret: true,
    refusals: ['resource_must_exist'],
  }),

  show('GET /api/v1/customer-portal/sessions/{id}', {
    summary: 'One session of the portal, without its token',
    scope: 'customers.read',
    inferred: true,
    params: { id: 'portal_session' },
    decider: portalSession,
    beside: besideSession,
    view: viewPortalSession,
    returns: PortalSessionResource,
  }),
]

/** Whoever has the token is the customer. */
const customers = { scope: 'own', credentials: ['customer_portal'] } as const
const ofInvoices = {
  ...customers,
  permission: 'invoices',
  from: invoices,
  only: (caller: Caller) => invoicesOf(customerOf(caller)),
  view: viewCustomerInvoice,
  returns: CustomerInvoice,
} as const
const ofSubscriptions = {
  ...customers,
  permission: 'subscriptions',
  from: subscriptions,
  only: (caller: Caller) => ({ customerId: customerOf(caller) }),
  view: viewCustomerSubscription,
  returns: CustomerSubscription,
} as const

const rows = [
  show('GET /api/v1/customer-portal/session', {
    ...customers,
    summary: 'Whose portal it is, and what is allowed in it',
    decider: portalSession,
    subject: (caller) => (caller.credential === 'customer_portal' ? caller.session : ''),
    beside: besideOpen,
    view: (id, state, { token: _, ...sides }) => viewPortalSession(id, state, sides),
    returns: PortalSessionResource,
  }),

  list('GET /api/v1/customer-portal/invoices', {
    ...ofInvoices,
    summary: 'Invoices of the customer, newest first',
    paging: 'cursor',
    filter: { status: InvoiceStatus },
  }),

  show('GET /api/v1/customer-portal/invoices/{id}', {
    ...ofInvoices,
    params: { id: 'invoice' },
    summary: 'One invoice of the customer',
  }),

  perform('POST /api/v1/customer-portal/invoices/{id}/pay', {
    ...customers,
    permission: 'invoices',
    params: { id: 'invoice' },
    isChange: true,
    summary: 'Pay what is left of an invoice: from the wallet at once, or on a page of ours',
    body: PortalPayRequest,
    examples: portalPayExamples,
    returns: CustomerInvoicePayment,
    refusals: [
      'wallet_must_cover_the_amount',
      'dependency_must_answer_in_time',
      'invoice_state_must_allow_it',
      'payment_must_be_eligible',
      'live_provider_must_be_configured',
    ],
    action: payFromPortal,
  }),

  list('GET /api/v1/customer-portal/subscriptions', {
    ...ofSubscriptions,
    summary: 'Subscriptions of the customer, newest first',
    paging: 'cursor',
  }),

  change('POST /api/v1/customer-portal/subscriptions/{id}/cancel', {
    ...ofSubscriptions,
    params: { id: 'subscription' },
    summary: 'Cancel at the end of the period that is paid for',
    body: record({
      reason: maybe(proseText(1000, 'Kept with the cancellation')),
    }),
    examples: portalCancelExamples,
    decider: subscription,
    command: 'CancelSubscription',
    prepare: (request) => prepareCancel(request, { atPeriodEnd: true, reason: request.body.reason }),
    refusals: ['subscription_must_be_running'],
  }),

  list('GET /api/v1/customer-portal/payments', {
    ...customers,
    permission: 'payments',
    summary: 'What the customer has paid, newest first',
    paging: 'cursor',
    from: payments,
    only: (caller) => ({ customer: customerOf(caller) }),
    view: viewCustomerPayment,
    returns: CustomerPayment,
  }),

  perform('GET /api/v1/customer-portal/wallet', {
    ...customers,
    permission: 'wallet',
    summary: 'What is in the wallet, and the latest movements',
    query: WalletQuery,
    returns: WalletResource,
    action: ownWallet,
  }),

  perform('POST /api/v1/customer-portal/wallet/topups', {
    ...customers,
    permission: 'wallet',
    summary:
      'Put money into the wallet: the payer is asked on the telephone at once, or pays on a page of ours',
    body: TopupRequest,
    examples: topupExamples,
    returns: AskedTopup,
    status: 201,
    prompts: ({ msisdn }: Static<typeof TopupRequest>) => msisdn,
    refusals: [
      'payment_must_be_eligible',
      'payment_method_must_be_valid',
      'live_provider_must_be_configured',
      'confirmation_must_be_the_only_one',
      'provider_must_accept_the_payment',
      'dependency_must_answer_in_time',
    ],
    action: topUpWallet,
  }),

  show('GET /api/v1/customer-portal/wallet/topups/{id}', {
    ...customers,
    permission: 'wallet',
    inferred: true,
    params: { id: 'wallet_topup' },
    summary: 'What has become of a top-up',
    from: walletTopups,
    only: (caller) => ({ customer: customerOf(caller) }),
    view: viewWalletTopup,
    returns: WalletTopupResource,
  }),
]

export const portalRoutes = section(
  'Customer portal',
  'What one customer sees and does, for an hour at a time. Your server opens a session and sends the customer ' +
    'to its `url`; or build the page yourself: the operations with the token do all that ours does.',
  [...merchants, ...rows],
)
