import { paymentIntentProcess } from './payment-intents.ts'
import { payoutProcess } from './payouts.ts'
import { claimProcess } from './claims.ts'
import type { Process } from './process.ts'
import { refundProcess } from './refunds.ts'
import { holdProcess } from './unclaimed-holds.ts'

/** What each family does on its own. */
export const processes: readonly Process[] = [
  claimProcess([]),
  holdProcess,
  paymentIntentProcess,
  payoutProcess,
  refundProcess,
]
