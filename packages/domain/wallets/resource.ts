import { publicId } from '../../contract/identity.ts'
import {
  AmountMinor,
  base,
  CountMinor,
  Currency,
  literals,
  maybe,
  nullable,
  proseText,
  record,
  Timestamp,
  Type,
  unixSeconds,
  type Static,
} from '../../contract/vocabulary.ts'
import type { WalletApplication } from './application.ts'
import type { WalletTopup } from './topup.ts'

/** Spec, merchant routes. */
export const WalletApplyRequest = record({
  customer_id: maybe(Type.String({ description: "Whose wallet; left out, the invoice's customer" })),
  amount: maybe({ ...AmountMinor, description: 'Cut to what is due and what the wallet covers' }),
  idempotency_key: maybe(Type.String({ minLength: 1, maxLength: 64, description: 'The same as the header' })),
  description: maybe(proseText(1000, 'What it is applied for')),
})

export const WalletApplicationResource = record({
  ...base('wallet_application', 'wa'),
  invoice: Type.String(),
  customer: Type.String(),
  currency: Currency,
  applied_amount: { ...AmountMinor, description: 'What it has paid of the invoice' },
  remaining_balance: { ...CountMinor, description: 'What it has left in the wallet' },
  invoice_paid: Type.Boolean({ description: 'Whether it has paid all that was left of the invoice' }),
  description: nullable(Type.String()),
})

export type WalletApplicationView = Static<typeof WalletApplicationResource>

/** Nothing is shown of what the book has not answered, or has refused. */
export function viewWalletApplication(
  id: string,
  state: WalletApplication,
): WalletApplicationView | undefined {
  if (state.status !== 'completed') return undefined
  return {
    id: publicId('wa', id),
    object: 'wallet_application',
    livemode: state.livemode,
    created: unixSeconds(state.createdAt),
    invoice: publicId('inv', state.invoice),
    customer: publicId('cus', state.customer),
    currency: state.currency,
    applied_amount: state.amount,
    remaining_balance: state.remaining,
    invoice_paid: state.isWhole,
    description: state.description,
  }
}

export const WalletTopupResource = record({
  ...base('wallet_topup', 'wt'),
  customer: Type.String(),
  amount: AmountMinor,
  currency: Currency,
  status: literals('pending', 'succeeded', 'failed'),
  payment_intent: Type.String({ description: 'The payment that it waits for, or waited for' }),
})

export type WalletTopupView = Static<typeof WalletTopupResource>

export function viewWalletTopup(id: string, state: WalletTopup): WalletTopupView | undefined {
  if (state.status === 'none') return undefined
  return {
    id: publicId('wt', id),
    object: 'wallet_topup',
    livemode: state.livemode,
    created: unixSeconds(state.createdAt),
    customer: publicId('cus', state.customer),
    amount: state.amount,
    currency: state.currency,
    status: state.status,
    payment_intent: publicId('pi', state.paymentIntent),
  }
}

/** What an entry about a wallet was for, by its subject. */
export const movementTypes = { payment: 'topup', wallet_application: 'invoice', refund: 'refund' } as const

const Movement = record({
  id: Type.String({ description: 'Of the journal entry' }),
  direction: { ...literals('credit', 'debit'), description: '`credit`: into the wallet' },
  type: literals(...Object.values(movementTypes), 'adjustment'),
  amount: AmountMinor,
  currency: Currency,
  reference: record(
    { object: Type.String(), id: Type.String() },
    { description: 'The payment, refund or application that it belongs to' },
  ),
  occurred_at: Timestamp,
})

export const WalletResource = record({
  object: literals('wallet'),
  id: Type.String({ description: 'The id of the customer' }),
  livemode: Type.Boolean(),
  customer: Type.String(),
  balances: Type.Array(record({ currency: Currency, amount: CountMinor }), {
    description: 'One for each currency in which something was put in',
  }),
  transactions: Type.Array(Movement, { description: 'The latest movements, newest first' }),
})

export type WalletView = Static<typeof WalletResource>
