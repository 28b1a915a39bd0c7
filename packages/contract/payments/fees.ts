import { spelledAmount } from '../locale/money-text.ts'
import { refuseField } from '../refusals.ts'
import { amountMinorMax } from '../vocabulary.ts'

export type ChargedOperation =
  'payment' | 'payout' | 'refund' | 'wallet_apply' | 'escrow_release' | 'campaign_withdrawal'
export type FeeMode = 'merchant_pays' | 'customer_pays'
type MethodType = 'mobile_money' | 'card' | 'bank'

/** Conditions of a tariff. Those left out match everything. */
interface Conditions {
  readonly merchant?: string | undefined
  readonly operator?: string | undefined
  readonly country?: string | undefined
  readonly method?: MethodType | undefined
  readonly currency?: string | undefined
}

export interface Tariff extends Conditions {
  readonly operation: ChargedOperation
  readonly basisPoints: number
  readonly fixedMinor: number
  readonly minimumMinor: number
  readonly maximumMinor?: number
  /** RFC 3339. */
  readonly validFrom: string
}

/** Domain model 3: card fixed, payout minimum, payout maximum, bank fixed. */
const byCurrency: Readonly<Record<string, readonly [number, number, number, number]>> = {
  XOF: [100, 50, 5_000, 500],
  XAF: [100, 50, 5_000, 500],
  GNF: [1_500, 750, 75_000, 7_500],
  CDF: [45_000, 22_500, 2_250_000, 225_000],
  EUR: [15, 8, 760, 76],
  USD: [17, 9, 850, 85],
}

const validFrom = '2020-01-01T00:00:00.000Z'
const free = { basisPoints: 0, fixedMinor: 0, minimumMinor: 0, validFrom } as const
const mobilePayout = { ...free, operation: 'payout', method: 'mobile_money', basisPoints: 100 } as const

/** Domain model 3. Inferred: the specification names no fees. */
export const tariffs: readonly Tariff[] = [
  { ...free, operation: 'payment', method: 'mobile_money', basisPoints: 200 },
  { ...free, operation: 'wallet_apply', basisPoints: 100 },
  { ...free, operation: 'escrow_release', basisPoints: 100 },
  { ...free, operation: 'campaign_withdrawal', basisPoints: 300 },
  { ...free, operation: 'refund' },
  ...Object.entries(byCurrency).flatMap(([currency, [card, least, most, bank]]): readonly Tariff[] => [
    { ...free, operation: 'payment', method: 'card', currency, basisPoints: 290, fixedMinor: card },
    { ...mobilePayout, currency, minimumMinor: least, maximumMinor: most },
    { ...free, operation: 'payout', method: 'bank', currency, fixedMinor: bank },
  ]),
]

export interface FeeQuestion extends Conditions {
  readonly operation: ChargedOperation
  readonly amountMinor: number
  readonly currency: string
  /** Who bears a payment's fee; `merchant_pays` by default. */
  readonly feeMode?: FeeMode | undefined
}

/** Components of the fee. They add up to it; what a maximum takes off is negative. */
export interface FeeDetail {
  readonly type: 'percent' | 'fixed' | 'minimum' | 'maximum'
  readonly basisPoints: number | null
  readonly amountMinor: number
}

export interface FeeQuote {
  readonly feeMinor: number
  readonly details: readonly FeeDetail[]
  readonly feeMode: FeeMode
  /** What the payer pays, or what is debited from the balance. */
  readonly totalMinor: number
  /** What the merchant or the beneficiary receives. */
  readonly netMinor: number
}

/**
 * The fee of an operation by the tariffs in force. Refused where none matches or the total is not countable.
 */
export function quoteFee(question: FeeQuestion, now: Date, table: readonly Tariff[] = tariffs): FeeQuote {
  const { operation, amountMinor, currency, method, feeMode = 'merchant_pays' } = question
  const tariff = ranked(table).find((candidate) => fits(candidate, question, now))?.tariff
  if (!tariff) {
    const message = `there is no tariff for ${operation} by ${method ?? 'any method'} in ${currency}`
    return refuseField('payment_must_be_eligible', '/currency', message)
  }
  const isOnTop = operation === 'payout' || (operation === 'payment' && feeMode === 'customer_pays')
  const details = detailsOf(tariff, amountMinor, operation !== 'payout')
  const feeMinor = details.reduce((sum, detail) => sum + detail.amountMinor, 0)
  const totalMinor = isOnTop ? amountMinor + feeMinor : amountMinor
  if (totalMinor > amountMinorMax) {
    const message = `amount and fee together must not exceed ${spelledAmount(amountMinorMax)}`
    refuseField('request_must_be_valid', '/amount', message)
  }
  const netMinor = isOnTop ? amountMinor : amountMinor - feeMinor
  return { feeMinor, details, feeMode, totalMinor, netMinor }
}

/** A tariff with its conditions. */
interface Ranked {
  readonly tariff: Tariff
  readonly conditions: readonly (keyof Conditions)[]
  readonly validFromMs: number
}

const rankings = new WeakMap<readonly Tariff[], readonly Ranked[]>()

/** A table with the most specific tariffs first, the newest first among equals: the first match counts. */
function ranked(table: readonly Tariff[]): readonly Ranked[] {
  let ranking = rankings.get(table)
  if (!ranking) rankings.set(table, (ranking = rank(table)))
  return ranking
}

function rank(table: readonly Tariff[]): readonly Ranked[] {
  return table
    .map((tariff) => ({
      tariff,
      conditions: fromHeaviest.filter((name) => tariff[name] !== undefined),
      validFromMs: Date.parse(tariff.validFrom),
    }))
    .sort((one, other) => weight(other.tariff) - weight(one.tariff) || other.validFromMs - one.validFromMs)
}

/** Ordered so that each condition outweighs all that follow. */
const fromHeaviest = ['merchant', 'operator', 'country', 'method', 'currency'] as const

function weight(tariff: Tariff): number {
  return fromHeaviest.reduce((sum, name) => sum * 2 + (tariff[name] === undefined ? 0 : 1), 0)
}

function fits({ tariff, conditions, validFromMs }: Ranked, question: FeeQuestion, now: Date): boolean {
  return (
    tariff.operation === question.operation &&
    conditions.every((name) => tariff[name] === question[name]) &&
    validFromMs <= now.getTime()
  )
}

/** Domain model 3: half-up(amount x basis points / 10 000) + fixed, within minimum and maximum. */
function detailsOf(tariff: Tariff, amountMinor: number, isTakenFromAmount: boolean): readonly FeeDetail[] {
  const { basisPoints, fixedMinor, minimumMinor, maximumMinor = amountMinorMax } = tariff
  const percent = basisPointsOf(amountMinor, basisPoints)
  const raw = percent + fixedMinor
  const raised = Math.max(raw, minimumMinor)
  const fee = Math.min(raised, maximumMinor, isTakenFromAmount ? amountMinor : amountMinorMax)
  const details: readonly FeeDetail[] = [
    { type: 'percent', basisPoints, amountMinor: percent },
    { type: 'fixed', basisPoints: null, amountMinor: fixedMinor },
    { type: 'minimum', basisPoints: null, amountMinor: raised - raw },
    { type: 'maximum', basisPoints: null, amountMinor: fee - raised },
  ]
  return details.filter((detail) => detail.amountMinor !== 0)
}

/** Rounded half up. Exact for all amounts and up to 10 000 basis points, although their product is not. */
function basisPointsOf(amountMinor: number, basisPoints: number): number {
  const rest = amountMinor % 10_000
  return ((amountMinor - rest) / 10_000) * basisPoints + Math.floor((rest * basisPoints + 5_000) / 10_000)
}
