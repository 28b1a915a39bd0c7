import {
  AmountMinor,
  CountMinor,
  literals,
  nullable,
  record,
  Type,
  Uuid,
  type Static,
} from '../../contract/vocabulary.ts'
import { Account, isOneOf, merchantAvailable, type AccountCode, type AccountName } from './accounts.ts'
import type { CollectedTemplate } from './templates.ts'

/** What a payment is for. Families follow PaymentIntentSucceeded for their own types. */
export const purposeTypes = [
  'payment',
  'checkout',
  'link',
  'invoice',
  'topup',
  'escrow',
  'contribution',
  'order',
] as const

/** The id is null for a plain payment. */
export const Purpose = record({ type: literals(...purposeTypes), id: nullable(Uuid) })
export type Purpose = Static<typeof Purpose>
export const plainPurpose: Purpose = { type: 'payment', id: null }

export const Share = record({ account: Account, amount: AmountMinor })
export type Share = Static<typeof Share>

interface PlanRule {
  /** Accounts that may be credited. */
  readonly credits: readonly AccountName[]
  /** Domain model 3: money held for others comes in and goes back whole. */
  readonly feeModes: readonly ('merchant' | 'payer' | 'none')[]
}

const paid: PlanRule = { credits: ['merchant.available'], feeModes: ['merchant', 'payer'] }

/** Domain model 2.3: where a payment's money may go, by the template that books it. */
const planRules: Readonly<Record<CollectedTemplate, PlanRule>> = {
  'payment.succeeded': paid,
  'wallet.topup': { credits: ['wallet'], feeModes: ['none'] },
  'escrow.fund': { credits: ['escrow.held'], feeModes: ['none'] },
  'contribution.succeeded': { credits: ['campaign'], feeModes: ['none'] },
  'order.paid': { credits: ['merchant.available', 'seller.pending'], feeModes: ['merchant', 'payer'] },
}

const templateOf: Readonly<Record<Purpose['type'], CollectedTemplate>> = {
  payment: 'payment.succeeded',
  checkout: 'payment.succeeded',
  link: 'payment.succeeded',
  invoice: 'payment.succeeded',
  topup: 'wallet.topup',
  escrow: 'escrow.fund',
  contribution: 'contribution.succeeded',
  order: 'order.paid',
}

/** Fixed when the intent is created. The fee is known at that time only where the payer pays it. */
export const PostingPlan = record({
  template: Type.Unsafe<CollectedTemplate>(Type.String()),
  /** What the payer pays, without a fee that the payer pays on top. The order decides ties. */
  credits: Type.Array(Share, { minItems: 1 }),
  feeMode: literals('merchant', 'payer', 'none'),
  payerFee: CountMinor,
})
export type PostingPlan = Static<typeof PostingPlan>

/** The merchant gets what is paid, less the fee. */
export function plainPlan(amount: number): PostingPlan {
  const credits = [{ account: merchantAvailable, amount } as const]
  return { template: 'payment.succeeded', credits, feeMode: 'merchant', payerFee: 0 }
}

/** The merchant gets the whole amount, and the payer pays the fee on top. */
export function payerPlan(amount: number, fee: number): PostingPlan {
  return { ...plainPlan(amount), feeMode: 'payer', payerFee: fee }
}

/** The whole payment goes to one account, and a fee is taken when it becomes the merchant's. */
export function wholePlan(type: 'topup' | 'escrow' | 'contribution', account: AccountCode, amount: number) {
  const plan = {
    template: templateOf[type],
    credits: [{ account, amount }],
    feeMode: 'none',
    payerFee: 0,
  } as const
  return { ...plan, credits: [...plan.credits] } satisfies PostingPlan
}

/**
 * Checks a plan against the chart of accounts: a stored plan can be booked whatever the fee will be. No
 * request names a plan, so an unfit one is our bug.
 */
export function admitPlan(plan: PostingPlan, purpose: Purpose, amount: number): void {
  const { template, credits, feeMode, payerFee } = plan
  const { credits: accounts, feeModes } = planRules[template]
  const fault = (problem: string) => {
    throw new Error(problem)
  }
  if (template !== templateOf[purpose.type])
    fault(`A payment for ${purpose.type} is not booked as ${template}`)
  for (const { account } of credits) {
    if (!isOneOf(account, accounts)) fault(`${template} does not credit ${account}`)
  }
  if (new Set(credits.map(({ account }) => account)).size < credits.length)
    fault('An account is credited twice')
  if (!feeModes.includes(feeMode)) fault(`The fee of ${template} is not paid by ${feeMode}`)
  if (payerFee > 0 && feeMode !== 'payer') fault('The payer pays no fee here')
  const total = credits.reduce((sum, share) => sum + share.amount, payerFee)
  if (total !== amount) fault(`The plan is about ${total}, the payment about ${amount}`)
}

/**
 * What each account gets. A fee that the merchant pays comes first out of the merchant's own share; the rest
 * of it is taken from the others in proportion.
 */
export function creditsOf({ credits, feeMode }: PostingPlan, fee: number): Share[] {
  if (feeMode !== 'merchant') return [...credits]
  const isOwn = ({ account }: Share) => account === merchantAvailable
  const own = credits.filter(isOwn)
  const fromOwn = Math.min(fee, sumOf(own))
  const taken = new Map([
    ...split(fromOwn, own),
    ...split(
      fee - fromOwn,
      credits.filter((share) => !isOwn(share)),
    ),
  ])
  const left = credits.map(({ account, amount }) => ({ account, amount: amount - (taken.get(account) ?? 0) }))
  return left.filter(({ amount }) => amount > 0)
}

/**
 * Which accounts a refund takes from: each in proportion to what is left of its share; the last refund takes
 * what is left. The fee is not given back: the merchant bears it, or else the first account credited.
 */
export function refundShares(left: readonly Share[], amount: number): Share[] {
  return [...split(amount, left)].map(([account, part]) => ({ account, amount: part })).filter(isSomething)
}

/** What each account can give back of a payment: its credit, and the first account also the fee. */
export function refundableShares(credits: readonly Share[], amount: number): Share[] {
  const own = credits.find(({ account }) => account === merchantAvailable) ?? credits[0]
  const account = own?.account ?? merchantAvailable
  const others = credits.filter((share) => share.account !== account)
  return [{ account, amount: amount - sumOf(others) }, ...others].filter(isSomething)
}

/** In proportion, largest remainders first, ties in order. Never more than a share. */
function split(amount: number, shares: readonly Share[]): Map<AccountCode, number> {
  const whole = BigInt(Math.max(1, sumOf(shares)))
  const parts = shares.map((share) => {
    const exact = BigInt(amount) * BigInt(share.amount)
    return { account: share.account, amount: Number(exact / whole), rest: exact % whole }
  })
  let missing = shares.length === 0 ? 0 : amount - sumOf(parts)
  for (const part of parts.toSorted((one, other) => Number(other.rest - one.rest))) {
    if (missing-- > 0) part.amount++
  }
  return new Map(parts.map((part) => [part.account, part.amount]))
}

function isSomething({ amount }: Share): boolean {
  return amount > 0
}

function sumOf(shares: readonly { readonly amount: number }[]): number {
  return shares.reduce((sum, { amount }) => sum + amount, 0)
}
