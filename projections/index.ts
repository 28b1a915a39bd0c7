import type { ReadModel } from '../packages/kernel/projection.ts'
import { apiKeys } from './api-keys.ts'
import { balanceDays, balances, balanceTransactions } from './balances.ts'
import { cases } from './cases.ts'
import { customers } from './customers.ts'
import { journal } from './journal.ts'
import { merchants } from './merchants.ts'
import { operations } from './operations.ts'
import { paymentIntents, payments } from './payment-intents.ts'
import { payoutDestinations, payouts, payoutSettingsDocuments } from './payouts.ts'
import { products } from './products.ts'
import { refunds } from './refunds.ts'
import { sandboxClockDocuments } from './sandbox-clocks.ts'
import { reconciliation, statements } from './statements.ts'
import { timers } from './timers.ts'
import { webhookEndpoints, webhookReplays } from './webhook-endpoints.ts'

/** Every read model. */
export const readModels: readonly ReadModel[] = [
  apiKeys,
  balanceDays,
  balances,
  balanceTransactions,
  cases,
  customers,
  journal,
  merchants,
  operations,
  paymentIntents,
  payments,
  payoutDestinations,
  payouts,
  payoutSettingsDocuments,
  products,
  reconciliation,
  refunds,
  sandboxClockDocuments,
  statements,
  timers,
  webhookEndpoints,
  webhookReplays,
]
