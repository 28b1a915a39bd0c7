import { change, create, history, list, redirect, show } from '../../../packages/contract/routes.ts'
import { section } from '../../../packages/contract/section.ts'
import { Timestamp, Type } from '../../../packages/contract/vocabulary.ts'
import { paymentLinkExamples } from '../../../packages/domain/payment-links/examples.ts'
import { paymentLink } from '../../../packages/domain/payment-links/payment-link.ts'
import {
  PaymentLinkRequest,
  PaymentLinkResource,
  PaymentLinkStatus,
  viewPaymentLink,
} from '../../../packages/domain/payment-links/resource.ts'
import { paymentLinks } from '../../../projections/payment-links.ts'
import { linkPreview } from '../pages/link-preview.ts'
import { notice } from '../pages/notices.ts'
import { followPaymentLink, LinkQuery, ownerOfLink, prepareLink } from '../actions/payment-links.ts'

const viewed = { view: viewPaymentLink, returns: PaymentLinkResource } as const
const named = { ...viewed, params: { id: 'payment_link' } } as const
const read = { scope: 'payments.read', from: paymentLinks } as const

const rows = [
  create('POST /api/v1/payment_links', {
    ...viewed,
    summary: 'Create a link to share; without an amount the payer chooses it',
    scope: 'payments.write',
    body: PaymentLinkRequest,
    examples: paymentLinkExamples,
    decider: paymentLink,
    command: 'CreateLink',
    prepare: prepareLink,
    secretId: true,
    refusals: ['payment_must_be_eligible', 'method_must_be_offered', 'live_provider_must_be_configured'],
  }),

  list('GET /api/v1/payment_links', {
    ...viewed,
    ...read,
    summary: 'Payment links, newest first',
    inferred: true,
    paging: 'cursor',
    filter: { status: PaymentLinkStatus, is_single_use: Type.Boolean() },
    ranges: { created_at: Timestamp },
  }),

  show('GET /api/v1/payment_links/{id}', { ...named, ...read, summary: 'One payment link' }),

  change('POST /api/v1/payment_links/{id}/deactivate', {
    ...named,
    summary: 'Close a link; whoever is paying by it already may finish',
    scope: 'payments.write',
    decider: paymentLink,
    command: 'DeactivateLink',
    data: () => ({}),
  }),

  history('GET /api/v1/payment_links/{id}/history', {
    ...named,
    ...read,
  }),

  redirect('GET /pay/{slug}', {
    summary: 'Where a payer opens a link: leads on to a checkout session; a preview is a page instead',
    scope: 'public',
    params: { slug: 'text' },
    query: LinkQuery,
    isCostly: true,
    token: 'slug',
    actsFor: ownerOfLink,
    secretId: true,
    refusals: [
      'payment_link_must_be_open',
      'payment_link_must_not_be_in_use',
      'merchant_must_not_be_suspended',
    ],
    page: linkPreview,
    refusedPage: notice,
    action: followPaymentLink,
  }),
]

export const paymentLinkRoutes = section(
  'Payment links',
  'A link, or its QR code, by which anybody pays: with an amount or one that the payer chooses, once or as often ' +
    'as people like. Each payer gets a checkout session.',
  rows,
)
