import type { ReadModel } from '../packages/kernel/projection.ts'
import { apiKeys } from './api-keys.ts'
import { balanceDays, balances, balanceTransactions } from './balances.ts'
import { brandings } from './branding.ts'
import { cases } from './cases.ts'
import { checkoutSessions } from './checkout.ts'
import { customers } from './customers.ts'
import { invoices } from './invoices.ts'
import { invitations } from './invitations.ts'
import { journal } from './journal.ts'
import { memberships } from './memberships.ts'
import { merchants } from './merchants.ts'
import { operations } from './operations.ts'
import { paymentIntents, payments } from './payment-intents.ts'
import { paymentLinks } from './payment-links.ts'
import { payoutDestinations, payouts, payoutSettingsDocuments } from './payouts.ts'
import { plans } from './plans.ts'
import { products } from './products.ts'
import { refunds } from './refunds.ts'
import { sandboxClockDocuments } from './sandbox-clocks.ts'
import { securityEvents } from './security-events.ts'
import { reconciliation, statements } from './statements.ts'
import { subscriptions } from './subscriptions.ts'
import { timers } from './timers.ts'
import { usageRecords } from './usage.ts'
import { walletBalances, walletMovements, walletTopups } from './wallets.ts'
import { webhookEndpoints, webhookReplays } from './webhook-endpoints.ts'

/** Every read model. */
export const readModels: readonly ReadModel[] = [
  apiKeys,
  balanceDays,
  balances,
  balanceTransactions,
  brandings,
  cases,
  checkoutSessions,
  customers,
  invoices,
  invitations,
  journal,
  memberships,
  merchants,
  operations,
  paymentIntents,
  paymentLinks,
  payments,
  payoutDestinations,
  payouts,
  payoutSettingsDocuments,
  plans,
  products,
  reconciliation,
  refunds,
  sandboxClockDocuments,
  securityEvents,
  statements,
  subscriptions,
  timers,
  usageRecords,
  walletBalances,
  walletMovements,
  walletTopups,
  webhookEndpoints,
  webhookReplays,
]
