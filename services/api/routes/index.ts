import type { AnyRoute } from '../../../packages/contract/routes.ts'
import { apiKeyRoutes } from './api-keys.ts'
import { auditRoutes } from './audit.ts'
import { authContactRoutes } from './auth-contacts.ts'
import { authFactorRoutes } from './auth-factors.ts'
import { authGoogleRoutes } from './auth-google.ts'
import { authPasskeyRoutes } from './auth-passkeys.ts'
import { authPhoneRoutes } from './auth-phones.ts'
import { authRoutes } from './auth.ts'
import { balanceRoutes } from './balances.ts'
import { brandingRoutes } from './branding.ts'
import { checkoutRoutes } from './checkout.ts'
import { customerRoutes } from './customers.ts'
import { eventRoutes } from './events.ts'
import { feeRoutes } from './fees.ts'
import { geographyRoutes } from './geography.ts'
import { hostedInvoiceRoutes } from './hosted-invoices.ts'
import { hostedPortalRoutes } from './hosted-portals.ts'
import { idempotencyKeyRoutes } from './idempotency-keys.ts'
import { invoiceRoutes } from './invoices.ts'
import { onboardingRoutes } from './onboarding.ts'
import { operationRoutes } from './operations.ts'
import { organizationRoutes } from './organizations.ts'
import { paymentIntentRoutes } from './payment-intents.ts'
import { paymentLinkRoutes } from './payment-links.ts'
import { paymentRoutes } from './payments.ts'
import { payoutSettingsRoutes } from './payout-settings.ts'
import { payoutRoutes } from './payouts.ts'
import { planRoutes } from './plans.ts'
import { portalRoutes } from './portal.ts'
import { productRoutes } from './products.ts'
import { securityEventRoutes } from './security-events.ts'
import { subscriptionRoutes } from './subscriptions.ts'
import { teamRoutes } from './team.ts'
import { testRoutes } from './test.ts'
import { usageRoutes } from './usage.ts'
import { walletRoutes } from './wallets.ts'
import { webhookEndpointRoutes } from './webhook-endpoints.ts'

/** Every endpoint, in the order of the reference: as a newcomer needs them. */
const table: readonly AnyRoute[] = [
  ...paymentIntentRoutes,
  ...checkoutRoutes,
  ...paymentLinkRoutes,
  ...brandingRoutes,
  ...payoutRoutes,
  ...payoutSettingsRoutes,
  ...paymentRoutes,
  ...customerRoutes,
  ...productRoutes,
  ...planRoutes,
  ...subscriptionRoutes,
  ...usageRoutes,
  ...invoiceRoutes,
  ...hostedInvoiceRoutes,
  ...portalRoutes,
  ...hostedPortalRoutes,
  ...walletRoutes,
  ...balanceRoutes,
  ...feeRoutes,
  ...webhookEndpointRoutes,
  ...eventRoutes,
  ...auditRoutes,
  ...operationRoutes,
  ...geographyRoutes,
  ...authRoutes,
  ...authFactorRoutes,
  ...authPasskeyRoutes,
  ...authGoogleRoutes,
  ...authContactRoutes,
  ...authPhoneRoutes,
  ...organizationRoutes,
  ...teamRoutes,
  ...securityEventRoutes,
  ...onboardingRoutes,
  ...apiKeyRoutes,
  ...testRoutes,
]

export const routes: readonly AnyRoute[] = [...table, ...idempotencyKeyRoutes(table)]
