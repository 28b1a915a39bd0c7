import type { AnyRoute } from '../packages/contract/routes.ts'
import { apiKeyRoutes } from './api/routes/api-keys.ts'
import { auditRoutes } from './api/routes/audit.ts'
import { authContactRoutes } from './api/routes/auth-contacts.ts'
import { authFactorRoutes } from './api/routes/auth-factors.ts'
import { authGoogleRoutes } from './api/routes/auth-google.ts'
import { authPasskeyRoutes } from './api/routes/auth-passkeys.ts'
import { authPhoneRoutes } from './api/routes/auth-phones.ts'
import { authRoutes } from './api/routes/auth.ts'
import { balanceRoutes } from './api/routes/balances.ts'
import { brandingRoutes } from './api/routes/branding.ts'
import { checkoutRoutes } from './api/routes/checkout.ts'
import { customerRoutes } from './api/routes/customers.ts'
import { eventRoutes } from './api/routes/events.ts'
import { feeRoutes } from './api/routes/fees.ts'
import { geographyRoutes } from './api/routes/geography.ts'
import { hostedInvoiceRoutes } from './api/routes/hosted-invoices.ts'
import { hostedPortalRoutes } from './api/routes/hosted-portals.ts'
import { idempotencyKeyRoutes } from './api/routes/idempotency-keys.ts'
import { invoiceRoutes } from './api/routes/invoices.ts'
import { onboardingRoutes } from './api/routes/onboarding.ts'
import { operationRoutes } from './api/routes/operations.ts'
import { organizationRoutes } from './api/routes/organizations.ts'
import { paymentIntentRoutes } from './api/routes/payment-intents.ts'
import { paymentLinkRoutes } from './api/routes/payment-links.ts'
import { paymentRoutes } from './api/routes/payments.ts'
import { payoutSettingsRoutes } from './api/routes/payout-settings.ts'
import { payoutRoutes } from './api/routes/payouts.ts'
import { planRoutes } from './api/routes/plans.ts'
import { portalRoutes } from './api/routes/portal.ts'
import { productRoutes } from './api/routes/products.ts'
import { securityEventRoutes } from './api/routes/security-events.ts'
import { subscriptionRoutes } from './api/routes/subscriptions.ts'
import { teamRoutes } from './api/routes/team.ts'
import { testRoutes } from './api/routes/test.ts'
import { usageRoutes } from './api/routes/usage.ts'
import { walletRoutes } from './api/routes/wallets.ts'
import { webhookEndpointRoutes } from './api/routes/webhook-endpoints.ts'
import { checkoutProcess } from './processes/checkout.ts'
import { claimProcess } from './processes/claims.ts'
import { codeMailProcess } from './processes/mails/code-mails.ts'
import { endedSessionsProcess } from './processes/ended-sessions.ts'
import { invitationProcess } from './processes/invitations.ts'
import { invoiceProcess } from './processes/invoices.ts'
import { linkMailProcess } from './processes/mails/link-mails.ts'
import { noticeMailProcess } from './processes/mails/notice-mails.ts'
import { paymentIntentProcess } from './processes/payment-intents.ts'
import { payoutProcess } from './processes/payouts.ts'
import type { Process } from './processes/runner/process.ts'
import { refundProcess } from './processes/refunds.ts'
import { requestedLinkProcess } from './processes/requested-links.ts'
import { subscriptionProcess } from './processes/subscriptions.ts'
import { takenOverProcess } from './processes/taken-over.ts'
import { holdProcess } from './processes/unclaimed-holds.ts'
import { userTaker } from './processes/users.ts'
import { walletProcess } from './processes/wallets.ts'

interface FamilyServices {
  readonly routes?: readonly AnyRoute[]
  /** What it does on its own, besides its policies. */
  readonly processes?: readonly Process[]
}

/** In the order of the reference: as a newcomer needs them. */
const families: readonly FamilyServices[] = [
  { routes: paymentIntentRoutes, processes: [paymentIntentProcess] },
  { routes: checkoutRoutes, processes: [checkoutProcess] },
  { routes: paymentLinkRoutes },
  { routes: brandingRoutes },
  { routes: payoutRoutes, processes: [payoutProcess] },
  { routes: payoutSettingsRoutes },
  { routes: paymentRoutes, processes: [refundProcess] },
  { routes: customerRoutes },
  { routes: productRoutes },
  { routes: planRoutes },
  { routes: subscriptionRoutes, processes: [subscriptionProcess] },
  { routes: usageRoutes },
  { routes: invoiceRoutes, processes: [invoiceProcess] },
  { routes: hostedInvoiceRoutes },
  { routes: portalRoutes },
  { routes: hostedPortalRoutes },
  { routes: walletRoutes, processes: [walletProcess] },
  { routes: balanceRoutes },
  { routes: feeRoutes },
  { routes: webhookEndpointRoutes },
  { routes: eventRoutes },
  { routes: auditRoutes },
  { routes: operationRoutes },
  { routes: geographyRoutes },
  {
    routes: authRoutes,
    processes: [
      linkMailProcess,
      noticeMailProcess,
      requestedLinkProcess,
      endedSessionsProcess,
      takenOverProcess,
    ],
  },
  { routes: authFactorRoutes, processes: [codeMailProcess] },
  { routes: authPasskeyRoutes },
  { routes: authGoogleRoutes },
  { routes: authContactRoutes },
  { routes: authPhoneRoutes },
  { routes: organizationRoutes },
  { routes: teamRoutes, processes: [invitationProcess] },
  { routes: securityEventRoutes },
  { routes: onboardingRoutes },
  { routes: apiKeyRoutes },
  { routes: testRoutes },
  { processes: [claimProcess([userTaker])] },
  { processes: [holdProcess] },
]

const table = families.flatMap((family) => family.routes ?? [])

/** Every endpoint. */
export const routes: readonly AnyRoute[] = [...table, ...idempotencyKeyRoutes(table)]

/** What the service does on its own. */
export const processes: readonly Process[] = families.flatMap((family) => family.processes ?? [])
