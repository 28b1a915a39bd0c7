import { paymentIntentProcess } from './payment-intents.ts'
import { codeMailProcess } from './mails/code-mails.ts'
import { linkMailProcess } from './mails/link-mails.ts'
import { noticeMailProcess } from './mails/notice-mails.ts'
import { payoutProcess } from './payouts.ts'
import { checkoutProcess } from './checkout.ts'
import { claimProcess } from './claims.ts'
import { invitationProcess } from './invitations.ts'
import { userTaker } from './users.ts'
import type { Process } from './runner/process.ts'
import { requestedLinkProcess } from './requested-links.ts'
import { refundProcess } from './refunds.ts'
import { invoiceProcess } from './invoices.ts'
import { subscriptionProcess } from './subscriptions.ts'
import { walletProcess } from './wallets.ts'
import { takenOverProcess } from './taken-over.ts'
import { holdProcess } from './unclaimed-holds.ts'

/** What each family does on its own. */
export const processes: readonly Process[] = [
  checkoutProcess,
  claimProcess([userTaker]),
  holdProcess,
  invoiceProcess,
  invitationProcess,
  linkMailProcess,
  noticeMailProcess,
  codeMailProcess,
  paymentIntentProcess,
  payoutProcess,
  refundProcess,
  requestedLinkProcess,
  subscriptionProcess,
  takenOverProcess,
  walletProcess,
]
