import { history, list, perform, show } from '../../../packages/contract/routes.ts'
import { section } from '../../../packages/contract/section.ts'
import {
  PaymentResource,
  PaymentStatus,
  viewPayment,
} from '../../../packages/domain/payment-intents/payment.ts'
import { refundExamples } from '../../../packages/domain/refunds/examples.ts'
import { refund } from '../../../packages/domain/refunds/refund.ts'
import { RefundRequest, RefundResource, viewRefund } from '../../../packages/domain/refunds/resource.ts'
import { payments } from '../../../projections/payment-intents.ts'
import { refunds } from '../../../projections/refunds.ts'
import { besidePayment, DetailedPayment, viewDetailedPayment } from '../actions/payments.ts'
import { refundPayment } from '../actions/refunds.ts'

const named = { params: { id: ['payment', 'payment_intent'] } } as const

const oneRefund = {
  params: { id: 'refund' },
  scope: 'payments.read',
  from: refunds,
  view: viewRefund,
  returns: RefundResource,
} as const

const rows = [
  list('GET /api/v1/merchant/payments', {
    summary: 'Payments, the resource that refunds attach to',
    scope: 'payments.read',
    inferred: true,
    from: payments,
    view: viewPayment,
    returns: PaymentResource,
    paging: 'page',
    filter: { status: PaymentStatus },
    period: 'succeeded_at',
    search: 'searchable',
  }),

  show('GET /api/v1/merchant/payments/{id}', {
    ...named,
    summary: 'One payment with timeline and refunds',
    scope: 'payments.read',
    inferred: true,
    from: payments,
    returns: DetailedPayment,
    view: viewDetailedPayment,
    beside: besidePayment,
  }),

  perform('POST /api/v1/merchant/payments/{id}/refund', {
    ...named,
    summary: 'Refund a payment, fully or in part; the id is of the payment or of its intent',
    scope: 'refunds.write',
    body: RefundRequest,
    examples: refundExamples,
    returns: RefundResource,
    status: 201,
    location: '/api/v1/merchant/refunds/{id}',
    creates: { decider: refund, view: viewRefund },
    refusals: [
      'resource_must_exist',
      'refund_must_not_exceed_the_payment',
      'balance_must_cover_the_refund',
      'payment_must_be_refundable',
      'live_provider_must_be_configured',
      'refund_must_not_be_abandoned',
    ],
    action: refundPayment,
  }),

  list('GET /api/v1/merchant/payments/{id}/refunds', {
    ...named,
    summary: 'Refunds of one payment, newest first',
    scope: 'payments.read',
    from: refunds,
    within: { param: 'id', parent: payments, column: 'payment_intent' },
    view: viewRefund,
    returns: RefundResource,
    paging: 'cursor',
  }),

  show('GET /api/v1/merchant/refunds/{id}', { ...oneRefund, summary: 'One refund', inferred: true }),

  history('GET /api/v1/merchant/refunds/{id}/history', oneRefund),
]

export const paymentRoutes = section(
  'Payments and refunds',
  'A payment is what an intent that succeeded has collected. It can be refunded, at once or in parts, ' +
    'as long as something of it is left.',
  rows,
)
