import { clearingPayout, merchantReserved, provider, type AccountCode } from './accounts.ts'
import type { Amounts, Subject } from './events.ts'
import { credit, debit, type Posting } from './postings.ts'
import { holdTemplates, type HoldTemplate } from './templates.ts'

export interface Source {
  readonly account: AccountCode
  readonly amount: number
}

/** What later commands need to know, so that they name nothing but the hold. It has the id of its subject. */
export interface Hold {
  readonly template: HoldTemplate
  readonly subject: Subject
  readonly amounts: Amounts
  readonly sources: readonly Source[]
  /** The payment by card whose pending money is a source. */
  readonly payment?: string
  readonly description?: string
  /** Placed: all is in merchant.reserved. Advanced: the amount is in clearing.payout, the fee is not. */
  state: 'placed' | 'advanced'
}

export const outcomes = ['posted', 'voided'] as const
export type Outcome = (typeof outcomes)[number]

// The postings of each step. They follow from the hold alone, so that exactly what was taken is given back.

export function placing(sources: readonly Source[]): Posting[] {
  const total = sources.reduce((sum, { amount }) => sum + amount, 0)
  return [...sources.map(({ account, amount }) => debit(account, amount)), credit(merchantReserved, total)]
}

export function advancing({ amounts }: Hold): Posting[] {
  return [debit(merchantReserved, amounts.amount), credit(clearingPayout, amounts.amount)]
}

export function posting(hold: Hold, rail: string): Posting[] {
  const { amount, fee } = hold.amounts
  return [...emptying(hold), credit(provider(rail), amount), credit(holdTemplates[hold.template].feesTo, fee)]
}

export function voiding(hold: Hold): Posting[] {
  return [...emptying(hold), ...hold.sources.map(({ account, amount }) => credit(account, amount))]
}

function emptying({ state, amounts: { amount, fee } }: Hold): Posting[] {
  if (state === 'placed') return [debit(merchantReserved, amount + fee)]
  return [debit(clearingPayout, amount), debit(merchantReserved, fee)]
}
