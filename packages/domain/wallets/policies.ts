import { policy, to } from '../../kernel/policy.ts'
import type { InvoiceEvents } from '../invoices/events.ts'
import { invoice } from '../invoices/invoice.ts'
import { account, bookId, merchantAvailable } from '../ledger/accounts.ts'
import { book } from '../ledger/book.ts'
import type { LedgerEvents } from '../ledger/events.ts'
import type { PaymentIntentEvents } from '../payment-intents/events.ts'
import { walletApplication, type WalletApplicationEvents } from './application.ts'
import { walletTopup, type WalletTopupCommands } from './topup.ts'

/** The invoice waits: the book says whether the wallet covers it, and then nothing can be in between. */
const requests = policy<InvoiceEvents>('wallet_applications', {
  InvoiceWalletPaymentStarted: ({ id, data: { application, ...data }, metadata }) => {
    const { customer, currency, amount, fee } = data
    const subject = { type: 'wallet_application', id: application }
    const moved = { from: account('wallet', customer), to: merchantAvailable, amount, fee } as const
    const entry = { template: 'wallet.apply', subject, ...moved, isRefusable: true } as const
    return [
      to(walletApplication, application, { type: 'RequestApplication', data: { ...data, invoice: id } }),
      to(book, bookId(metadata.merchant, metadata.livemode, currency), { type: 'PostEntry', data: entry }),
    ]
  },
})

const money = policy<LedgerEvents>('wallet_application_money', {
  EntryPosted: ({ data: { template, subject, remaining = 0 } }) => {
    if (template !== 'wallet.apply') return []
    return [to(walletApplication, subject.id, { type: 'CompleteApplication', data: { remaining } })]
  },
  EntryRefused: ({ data: { template, subject } }) => {
    if (template !== 'wallet.apply') return []
    return [to(walletApplication, subject.id, { type: 'FailApplication', data: {} })]
  },
})

const ends = policy<WalletApplicationEvents>('wallet_application_ends', {
  WalletApplicationCompleted: ({ id: application, data }) => [
    to(invoice, data.invoice, { type: 'SettleWalletPayment', data: { application } }),
  ],
  WalletApplicationFailed: ({ id: application, data }) => [
    to(invoice, data.invoice, { type: 'FailWalletPayment', data: { application } }),
  ],
})

const topups = policy<PaymentIntentEvents>('wallet_topups', {
  PaymentIntentSucceeded: ofTopup('CompleteTopup'),
  PaymentIntentFailed: ofTopup('FailTopup'),
  PaymentIntentCanceled: ofTopup('FailTopup'),
  PaymentIntentPaymentReturned: ofTopup('ReturnTopup'),
})

type Purposed = { readonly data: Pick<PaymentIntentEvents['PaymentIntentFailed'], 'purpose'> }

function ofTopup(type: Exclude<keyof WalletTopupCommands, 'RequestTopup'>) {
  return ({ data: { purpose } }: Purposed) => {
    if (purpose.type !== 'topup' || purpose.id === null) return []
    return [to(walletTopup, purpose.id, { type, data: {} })]
  }
}

export const walletPolicies = [requests, money, ends, topups]
