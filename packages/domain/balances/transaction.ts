import { derivedId, publicId } from '../../contract/identity.ts'
import {
  base,
  choice,
  Currency,
  literals,
  nullable,
  record,
  SignedMinor,
  Timestamp,
  Type,
  unixSeconds,
  type Static,
} from '../../contract/vocabulary.ts'
import type { Entry } from '../ledger/events.ts'
import { merchantAvailable, merchantPending, type AccountCode } from '../ledger/accounts.ts'
import { placing } from '../ledger/holds.ts'
import { holdTemplates, type HoldSteps, type Template } from '../ledger/templates.ts'
import { movementOf } from './movement.ts'

const transactionTypes = [
  'payment',
  'refund',
  'refund_failure',
  'payout',
  'payout_cancel',
  'payout_failure',
  'payout_return',
  'wallet_payment',
  'escrow_funding',
  'escrow_release',
  'escrow_refund',
  'campaign_withdrawal',
  'order_commission',
  'order_refund',
  'order_refund_failure',
  'seller_settlement',
  'settlement_recovery',
  'transfer',
  'topup',
  'adjustment',
] as const

type TransactionType = (typeof transactionTypes)[number]

/**
 * Domain model 2.4: the entries that a merchant sees, and their types. The others move no money that the
 * merchant may spend.
 */
const typeOf: Readonly<Partial<Record<Template, TransactionType>>> = {
  'payment.succeeded': 'payment',
  'payment.succeeded_deferred': 'payment',
  'refund.hold': 'refund',
  'refund.fail': 'refund_failure',
  'payout.hold': 'payout',
  'payout.cancel': 'payout_cancel',
  'payout.fail': 'payout_failure',
  'payout.return': 'payout_return',
  'payout.paid_late': 'payout',
  'refund.paid_late': 'refund',
  'refund.return': 'refund_failure',
  'batch.hold': 'payout',
  'batch.release': 'payout_cancel',
  'wallet.apply': 'wallet_payment',
  'escrow.fund_ledger': 'escrow_funding',
  'escrow.release_ledger': 'escrow_release',
  'escrow.refund_ledger': 'escrow_refund',
  'withdrawal.to_balance': 'campaign_withdrawal',
  'order.paid': 'order_commission',
  'order.paid_deferred': 'order_commission',
  'order.refund_hold': 'order_refund',
  'order.refund_fail': 'order_refund_failure',
  'settlement.recovery': 'settlement_recovery',
  'transfer.in': 'transfer',
  'transfer.out': 'transfer',
  'transfer.back': 'transfer',
  'sandbox.topup': 'topup',
  reversal: 'adjustment',
}

/** What an entry can be about, and the prefix of its public id. */
const sources = { payment: 'pay', refund: 're', payout: 'po', wallet_application: 'wa' } as const
type Source = keyof typeof sources

function isSource(type: string): type is Source {
  return type in sources
}

/** The fee that an entry takes or gives back. */
const fees: Readonly<Partial<Record<TransactionType, { readonly type: string; readonly sign: 1 | -1 }>>> = {
  payment: { type: 'payment_fee', sign: 1 },
  payout: { type: 'payout_fee', sign: 1 },
  payout_cancel: { type: 'payout_fee', sign: -1 },
  payout_failure: { type: 'payout_fee', sign: -1 },
  payout_return: { type: 'payout_fee', sign: -1 },
  wallet_payment: { type: 'wallet_fee', sign: 1 },
  escrow_release: { type: 'escrow_fee', sign: 1 },
  campaign_withdrawal: { type: 'funding_fee', sign: 1 },
  order_commission: { type: 'payment_fee', sign: 1 },
}

export const TransactionType = choice(...transactionTypes)

export const BalanceTransactionResource = record({
  ...base('balance_transaction', 'txn'),
  amount: SignedMinor,
  fee: SignedMinor,
  net: SignedMinor,
  currency: Currency,
  type: literals(...transactionTypes),
  status: literals('pending', 'available'),
  available_on: Timestamp,
  source: nullable(Type.String()),
  description: nullable(Type.String()),
  fee_details: Type.Array(record({ type: Type.String(), amount: SignedMinor })),
  entry_id: Type.String(),
})

/** A row of the read model `balance_transactions`, with the id of its journal entry. */
export interface TransactionRow {
  readonly id: string
  readonly merchant: string
  readonly livemode: boolean
  readonly position: number
  readonly type: TransactionType
  readonly status: 'pending' | 'available'
  readonly currency: string
  readonly amount: number
  readonly fee: number
  readonly net: number
  readonly source: string | null
  readonly source_object: Source | null
  readonly description: string | null
  readonly available_on: string
  readonly created_at: string
}

type Shown = Omit<TransactionRow, 'merchant' | 'livemode' | 'position'>

/**
 * What a merchant sees of an entry: one row if it moves money that the merchant may spend, now or later. In a
 * batch, one row per payout.
 */
export function transactionsOf(entry: Entry): readonly Shown[] {
  const type = typeOf[entry.template]
  // A payment whose fee takes all of it moves nothing, and is still a payment.
  const isSeen = type === 'payment' || entry.postings.some(({ account }) => isSpendable(account))
  if (!type || !isSeen) return []
  const of = 'owner' in entry ? (holdTemplates[entry.template] as HoldSteps).parts : undefined
  if (of === undefined || !('owner' in entry)) return [shown(entry, type)]
  return entry.parts.map((part) => {
    const { id, amount, fee } = part
    const entryId = derivedId(id, entry.template)
    return shown(
      { ...entry, entryId, subject: { type: of, id }, amounts: { amount, fee }, postings: placing([part]) },
      type,
    )
  })
}

function isSpendable(account: AccountCode): boolean {
  return account === merchantAvailable || account === merchantPending
}

function shown(entry: Entry, type: TransactionType): Shown {
  const { available, pending } = movementOf(entry)
  const net = available + pending
  // Without the check for zero, nothing given back would be -0, which no column stores.
  const fee = 0 + (fees[type]?.sign ?? 0) * entry.amounts.fee
  const source_object = isSource(entry.subject.type) ? entry.subject.type : null
  const availableAt = 'availableAt' in entry && entry.pending ? entry.availableAt : undefined
  return {
    id: entry.entryId,
    type,
    status: availableAt ? 'pending' : 'available',
    currency: entry.currency,
    amount: net + fee,
    fee,
    net,
    source: source_object && entry.subject.id,
    source_object,
    description: entry.description ?? null,
    available_on: availableAt ?? entry.effectiveAt,
    created_at: entry.effectiveAt,
  }
}

export function viewTransaction(row: TransactionRow): Static<typeof BalanceTransactionResource> {
  const feeType = fees[row.type]?.type
  return {
    id: publicId('txn', row.id),
    object: 'balance_transaction',
    livemode: row.livemode,
    created: unixSeconds(row.created_at),
    amount: row.amount,
    fee: row.fee,
    net: row.net,
    currency: row.currency,
    type: row.type,
    status: row.status,
    available_on: row.available_on,
    source: row.source_object && row.source && publicId(sources[row.source_object], row.source),
    description: row.description,
    fee_details: feeType && row.fee !== 0 ? [{ type: feeType, amount: row.fee }] : [],
    entry_id: row.id,
  }
}
