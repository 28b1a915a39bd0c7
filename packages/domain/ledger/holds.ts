import { clearingPayout, merchantPending, merchantReserved, provider, type AccountCode } from './accounts.ts'
import type { Amounts, HoldPart, Subject } from './events.ts'
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
  const taken = byAccount(parts, (part) => [part.source, part.amount + part.fee])
  return [...taken.map(([account, total]) => debit(account, total)), credit(merchantReserved, amount + fee)]
}

export function advancing(parts: readonly HoldPart[]): Posting[] {
  const { amount } = amountsOf(parts)
  return [debit(merchantReserved, amount), credit(clearingPayout, amount)]
}

/** Holds of the first version do not know their rail: the command that ends them names it. */
export function posting(parts: readonly OpenPart[], rail?: string): Posting[] {
  const left = byAccount(parts, (part) => {
    return part.amount > 0 ? [provider(part.rail ?? rail ?? ''), part.amount] : null
  })
  const earned = byAccount(parts, ({ feeAccount, fee }) => feeAccount && [feeAccount, fee])
  return [...emptying(parts), ...[...left, ...earned].map(([account, total]) => credit(account, total))]
}

export function voiding(parts: readonly OpenPart[]): Posting[] {
  const taken = byAccount(parts, (part) => [part.source, part.amount + part.fee])
  return [...emptying(parts), ...taken.map(([account, total]) => credit(account, total))]
}

function emptying(parts: readonly OpenPart[]): Posting[] {
  const { amount, fee } = amountsOf(parts)
  const { amount: sent } = amountsOf(parts.filter(({ state }) => state === 'advanced'))
  return [debit(clearingPayout, sent), debit(merchantReserved, amount + fee - sent)]
}

export function amountsOf(parts: readonly HoldPart[]): Amounts {
  let [amount, fee] = [0, 0]
  for (const part of parts) {
    amount += part.amount
    fee += part.fee
  }
  return { amount, fee }
}

/** What these parts took from an unreleased card payment. */
export function pendingOf(parts: readonly HoldPart[]): number {
  const { amount, fee } = amountsOf(parts.filter(({ source }) => source === merchantPending))
  return amount + fee
}

type Share = readonly [AccountCode, number]

/** Sums by account, in order of first appearance. */
function byAccount<Part>(parts: readonly Part[], shareOf: (part: Part) => Share | null): readonly Share[] {
  const sums = new Map<AccountCode, number>()
  for (const part of parts) {
    const [account, amount] = shareOf(part) ?? []
    if (account && amount) sums.set(account, (sums.get(account) ?? 0) + amount)
  }
  return [...sums]
}
