import { clearingPayout, merchantPending, merchantReserved } from './accounts.ts'
import type { Amounts, HoldPart, Subject } from './events.ts'
import { amountsOf, givenTo, takenFrom } from './parts.ts'
import { credit, debit, type Posting } from './postings.ts'
import type { HoldTemplate } from './templates.ts'

/** Placed: all of it is in merchant.reserved. Advanced: its amount is in clearing.payout, its fee is not. */
export type OpenPart = HoldPart & { state: 'placed' | 'advanced' }

/** What later commands need, so that they name nothing but the hold. It has the id of its subject. */
export interface Hold {
  readonly template: HoldTemplate
  readonly subject: Subject
  /** The stream that must claim it: `payout-0190…`. */
  readonly owner: string
  /** The total that was held. */
  readonly amounts: Amounts
  /** How many parts were placed. */
  readonly placed: number
  /** Those that have not ended. */
  parts: readonly OpenPart[]
  /** The payment that a refund is for. */
  readonly payment?: string
  readonly description?: string
}

export const outcomes = ['posted', 'voided'] as const
export type Outcome = (typeof outcomes)[number]

// The postings of each step. They follow from the parts alone, so that exactly what was taken is given back.

export function placing(parts: readonly HoldPart[]): Posting[] {
  const { amount, fee } = amountsOf(parts)
  const taken = takenFrom(parts).map(([account, total]) => debit(account, total))
  return [...taken, credit(merchantReserved, amount + fee)]
}

export function advancing(parts: readonly HoldPart[]): Posting[] {
  const { amount } = amountsOf(parts)
  return [debit(merchantReserved, amount), credit(clearingPayout, amount)]
}

export function posting(parts: readonly OpenPart[], rail?: string): Posting[] {
  return [...emptying(parts), ...givenTo(parts, rail).map(([account, total]) => credit(account, total))]
}

export function voiding(parts: readonly OpenPart[]): Posting[] {
  return [...emptying(parts), ...takenFrom(parts).map(([account, total]) => credit(account, total))]
}

function emptying(parts: readonly OpenPart[]): Posting[] {
  const { amount, fee } = amountsOf(parts)
  const { amount: sent } = amountsOf(parts.filter(({ state }) => state === 'advanced'))
  return [debit(clearingPayout, sent), debit(merchantReserved, amount + fee - sent)]
}

/** What these parts took from an unreleased card payment. */
export function pendingOf(parts: readonly HoldPart[]): number {
  const { amount, fee } = amountsOf(parts.filter(({ source }) => source === merchantPending))
  return amount + fee
}
