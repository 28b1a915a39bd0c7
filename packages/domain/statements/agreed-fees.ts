import type { StatementLine } from './statement.ts'

/** What an operator takes for a movement by its contract. */
export interface AgreedFee {
  /** Of the amount, in millionths. */
  readonly share: number
  /** As much again for each, in minor units. */
  readonly fixed: number
}

/** For money that comes in, and for money that goes out. */
export interface AgreedFees {
  readonly in: AgreedFee
  readonly out: AgreedFee
}

const million = 1_000_000n

/** However an operator rounds, it takes less than one minor unit more or less. */
export function isAgreed(
  { amount, fee }: Pick<StatementLine, 'amount' | 'fee'>,
  fees: AgreedFees | undefined,
): boolean {
  if (!fees) return fee === 0
  const { share, fixed } = amount < 0 ? fees.out : fees.in
  const agreed = BigInt(Math.abs(amount)) * BigInt(share) + BigInt(fixed) * million
  const difference = BigInt(fee) * million - agreed
  return difference > -million && difference < million
}
