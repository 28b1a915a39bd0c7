import type { Family } from '../../contract/family.ts'
import { publicEvents } from '../../contract/webhooks/public-events.ts'
import { walletApplication } from './application.ts'
import { walletPolicies } from './policies.ts'
import {
  viewWalletApplication,
  viewWalletTopup,
  WalletApplicationResource,
  WalletTopupResource,
} from './resource.ts'
import { walletTimers } from './timers.ts'
import { walletTopup } from './topup.ts'

const applied = publicEvents(walletApplication, {
  scope: 'billing.read',
  types: { 'wallet.applied': 'A wallet has paid an invoice, fully or in part.' },
  events: { WalletApplicationCompleted: 'wallet.applied' },
  returns: WalletApplicationResource,
  view: viewWalletApplication,
})

const toppedUp = publicEvents(walletTopup, {
  scope: 'billing.read',
  types: { 'wallet.topped_up': 'A customer has put money into the wallet.' },
  events: { WalletTopupCompleted: 'wallet.topped_up' },
  returns: WalletTopupResource,
  view: viewWalletTopup,
})

/** What customers have paid in advance. The money is in the book: an account for each customer. */
export const wallets: Family = {
  name: 'wallets',
  ids: { wallet_application: 'wa', wallet_topup: 'wt' },
  streams: [walletTopup, walletApplication],
  policies: walletPolicies,
  timers: walletTimers,
  publicEvents: [applied, toppedUp],
}
