import type { RefusalName } from '../../contract/refusals.ts'
import {
  isOneOf,
  merchantAvailable,
  merchantPending,
  paymentFees,
  provider,
  sandboxFunding,
  suspenseUnmatched,
  type AccountCode,
  type AccountName,
} from './accounts.ts'
import { givenTo, takenFrom, type Part } from './parts.ts'
import { credit, debit, mirror, type Posting } from './postings.ts'

interface Plain {
  readonly amount: number
}

interface Railed extends Plain {
  readonly rail: string
}

interface Priced extends Railed {
  readonly fee: number
}

/** Left out: all but the fee goes to the merchant. */
interface Collected extends Priced {
  readonly credits?: readonly { readonly account: AccountCode; readonly amount: number }[]
}

/** Paid by card, it may be refunded but not spent before then. */
interface ToppedUp extends Collected {
  readonly availableAt?: string
}

/** The accounts that a payment was credited to, with what each gives to a refund or gets back. */
interface Shared extends Railed {
  readonly shares: readonly { readonly account: AccountCode; readonly amount: number }[]
}

/** What was held for a payout, also for one in a batch, with the fee of a product if it has one. */
interface Held {
  readonly parts: readonly Part[]
}

interface Deferred extends Collected {
  readonly availableAt: string
}

/** From one account to another, less a fee. */
interface Moved extends Plain {
  readonly from: AccountCode
  readonly to: AccountCode
  readonly fee?: number
}

/** Domain model 2.1: accounts that belong to the merchant, a customer or a seller. */
const ownAccounts = ['merchant.available', 'merchant.custom', 'wallet', 'seller.available'] as const

/**
 * Domain model 2.3: money that moves within a book: from which accounts, to which, and where its fee goes.
 */
export const moves = {
  'wallet.apply': {
    from: ['wallet'],
    to: ['merchant.available'],
    fees: 'revenue.wallet_fees',
    tellsRemaining: true,
  },
  'escrow.fund_ledger': { from: ownAccounts, to: ['escrow.held'] },
  'escrow.release_ledger': { from: ['escrow.held'], to: ownAccounts, fees: 'revenue.escrow_fees' },
  'escrow.refund_ledger': { from: ['escrow.held'], to: ownAccounts },
  'escrow.freeze': { from: ['escrow.held'], to: ['escrow.disputed'] },
  'escrow.unfreeze': { from: ['escrow.disputed'], to: ['escrow.held'] },
  'withdrawal.to_balance': { from: ['campaign'], to: ['merchant.available'], fees: 'revenue.funding_fees' },
  'settlement.to_seller': { from: ['seller.pending'], to: ['seller.available'] },
  'settlement.recovery': { from: ['seller.pending'], to: ['merchant.available'] },
  'transfer.out': { from: [...ownAccounts, 'seller.pending'], to: ['transfer.clearing'] },
  'transfer.in': { from: ['provider'], to: ownAccounts },
  'transfer.settle': { from: ['transfer.clearing'], to: ['provider'] },
  'transfer.back': { from: ['transfer.clearing'], to: [...ownAccounts, 'seller.pending'] },
} as const satisfies Record<string, Move>

/** Domain model 2.3: entries that are final at once. `amount` is what the payer paid, or what moves. */
export const entryTemplates = {
  'payment.succeeded': collected,
  'payment.succeeded_deferred': deferred,
  'wallet.topup': ({ availableAt: _, ...asked }: ToppedUp) => collected(asked),
  'escrow.fund': collected,
  'contribution.succeeded': collected,
  'order.paid': collected,
  'order.paid_deferred': deferred,
  'payment.available': ({ amount }: Plain) => [
    debit(merchantPending, amount),
    credit(merchantAvailable, amount),
  ],
  'payment.late': ({ rail, amount }: Railed) => [
    debit(provider(rail), amount),
    credit(suspenseUnmatched, amount),
  ],
  'payment.late_refund': ({ rail, amount }: Railed) => [
    debit(suspenseUnmatched, amount),
    credit(provider(rail), amount),
  ],
  'payout.return': ({ parts }: Held) => [
    ...givenTo(parts).map(([account, amount]) => debit(account, amount)),
    ...takenFrom(parts).map(([account, amount]) => credit(account, amount)),
  ],
  /** Beyond domain model 2.3: what an operator did after saying that it had not, or undid later. */
  'payout.paid_late': ({ parts }: Held) => [
    ...takenFrom(parts).map(([account, amount]) => debit(account, amount)),
    ...givenTo(parts).map(([account, amount]) => credit(account, amount)),
  ],
  'refund.paid_late': ({ rail, amount, shares }: Shared) => [
    ...shares.map((share) => debit(share.account, share.amount)),
    credit(provider(rail), amount),
  ],
  'refund.return': ({ rail, amount, shares }: Shared) => [
    debit(provider(rail), amount),
    ...shares.map((share) => credit(share.account, share.amount)),
  ],
  'sandbox.topup': ({ amount }: Plain) => [debit(sandboxFunding, amount), credit(merchantAvailable, amount)],
  reversal: ({ postings }: { readonly postings: readonly Posting[] }) => postings.map(mirror),
  ...movedBy(moves),
}

function collected({ rail, amount, fee, credits }: Collected): Posting[] {
  const shares = credits ?? [{ account: merchantAvailable, amount: amount - fee }]
  const credited = shares.map((share) => credit(share.account, share.amount))
  return [debit(provider(rail), amount), ...credited, credit(paymentFees, fee)]
}

/** By card: the merchant's part is pending first. */
function deferred(asked: Deferred): Posting[] {
  return collected(asked).map((posting) => {
    return posting.account === merchantAvailable ? { ...posting, account: merchantPending } : posting
  })
}

interface Move {
  readonly from: readonly AccountName[]
  readonly to: readonly AccountName[]
  readonly fees?: AccountCode
  /** The event says what is left in the account. */
  readonly tellsRemaining?: true
}

export function tellsRemaining(template: string): boolean {
  const table: Readonly<Record<string, Move>> = moves
  return table[template]?.tellsRemaining ?? false
}

/** What they credit by card is young: it may be refunded but not spent before `availableAt`. */
export const agingTemplates: readonly string[] = ['wallet.topup']

function movedBy<Name extends string>(table: Readonly<Record<Name, Move>>) {
  const templates = Object.entries<Move>(table).map(([name, move]) => [
    name,
    (asked: Moved) => moving(name, move, asked),
  ])
  // Object.fromEntries loses the literal types of its keys.
  return Object.fromEntries(templates) as Record<Name, (asked: Moved) => Posting[]>
}

/** An account missing from the table is the caller's bug: requests were checked before. */
function moving(name: string, { from, to, fees }: Move, asked: Moved): Posting[] {
  const { amount, fee = 0 } = asked
  if (!isOneOf(asked.from, from) || !isOneOf(asked.to, to) || (fee > 0 && !fees)) {
    throw new Error(`${name} moves nothing from ${asked.from} to ${asked.to}`)
  }
  return [debit(asked.from, amount), credit(asked.to, amount - fee), credit(fees ?? asked.to, fee)]
}

export type EntryTemplate = keyof typeof entryTemplates
/** The template that books a payment; the book chooses its pending twin for card payments. */
export type CollectedTemplate =
  'payment.succeeded' | 'wallet.topup' | 'escrow.fund' | 'contribution.succeeded' | 'order.paid'
/** A release takes its amount from the book, a reversal from an entry: both have their own command. */
export type PostedTemplate = Exclude<EntryTemplate, 'payment.available' | 'reversal'>

/** The name of a hold's entry at each step; the postings follow from the parts alone (`holds.ts`). */
export interface HoldSteps {
  /** Left out where a hold goes directly from placed to posted. */
  readonly advanced?: string
  readonly posted: string
  readonly voided: { readonly placed: string; readonly advanced: string }
  /** Each part is a subject of its own, with this type and the part's id, and ends on its own. */
  readonly parts?: string
  readonly uncovered: RefusalName
}

/** Domain model 2.3: money that is set aside first. */
export const holdTemplates = {
  'payout.hold': {
    advanced: 'payout.submit',
    posted: 'payout.settle',
    voided: { placed: 'payout.cancel', advanced: 'payout.fail' },
    uncovered: 'balance_must_cover_amount_and_fees',
  },
  'batch.hold': {
    advanced: 'payout.submit',
    posted: 'payout.settle',
    voided: { placed: 'batch.release', advanced: 'payout.fail' },
    parts: 'payout',
    uncovered: 'balance_must_cover_amount_and_fees',
  },
  'refund.hold': {
    posted: 'refund.settle',
    voided: { placed: 'refund.fail', advanced: 'refund.fail' },
    uncovered: 'balance_must_cover_the_refund',
  },
  'order.refund_hold': {
    posted: 'refund.settle',
    voided: { placed: 'order.refund_fail', advanced: 'order.refund_fail' },
    uncovered: 'balance_must_cover_the_refund',
  },
} as const satisfies Record<string, HoldSteps>

export type HoldTemplate = keyof typeof holdTemplates
type Steps = (typeof holdTemplates)[HoldTemplate]
export type PostTemplate = Steps['posted']
export type VoidTemplate = Steps['voided']['placed' | 'advanced']
export type AdvanceTemplate = Extract<Steps, { advanced: string }>['advanced']
export type Template = EntryTemplate | HoldTemplate | AdvanceTemplate | PostTemplate | VoidTemplate
