import { perform } from '../../../packages/contract/routes.ts'
import { section } from '../../../packages/contract/section.ts'
import { literals, optional, record } from '../../../packages/contract/vocabulary.ts'
import { cancelFromPage, HostedPortal, hostedPortal, ownerOfPortal } from '../actions/hosted-portal.ts'
import { backToPortal, portalPage, refusedPortal } from '../pages/portal.ts'

/** Whoever was given the address of a portal is its customer. */
const customers = {
  scope: 'public',
  inferred: true,
  token: 'token',
  actsFor: ownerOfPortal,
  query: record({
    lang: optional({ ...literals('fr', 'en'), description: "Instead of the browser's language" }),
  }),
  returns: HostedPortal,
  refusedPage: refusedPortal,
} as const

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
]

export const hostedPortalRoutes = section(
  'Pages of portals',
  'Where `url` of a portal session leads: the customer sees and pays invoices, and cancels subscriptions.',
  rows,
)
