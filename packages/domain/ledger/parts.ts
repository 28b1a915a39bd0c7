import { provider, type AccountCode } from './accounts.ts'

/** A part of a hold, as far as it moves money. */
export interface Part {
  readonly source: AccountCode
  readonly amount: number
  readonly fee: number
  readonly feeAccount: AccountCode | null
  readonly rail: string | null
}

type Share = readonly [AccountCode, number]

/** What the parts take from each source. */
export function takenFrom(parts: readonly Part[]): readonly Share[] {
  return byAccount(parts, ({ source, amount, fee }) => [source, amount + fee])
}

/**
 * Where it goes: the amounts to their rails, the fees to us. Holds of the first version do not know their
 * rail: the command that ends them names it.
 */
export function givenTo(parts: readonly Part[], rail?: string): readonly Share[] {
  const left = byAccount(parts, (part) => {
    return part.amount > 0 ? [provider(part.rail ?? rail ?? ''), part.amount] : null
  })
  const earned = byAccount(parts, ({ feeAccount, fee }) => feeAccount && [feeAccount, fee])
  return [...left, ...earned]
}

/** Sums by account, in order of first appearance. */
function byAccount(parts: readonly Part[], shareOf: (part: Part) => Share | null): readonly Share[] {
  const sums = new Map<AccountCode, number>()
  for (const part of parts) {
    const [account, amount] = shareOf(part) ?? []
    if (account && amount) sums.set(account, (sums.get(account) ?? 0) + amount)
  }
  return [...sums]
}

export function amountsOf(parts: readonly Pick<Part, 'amount' | 'fee'>[]): { amount: number; fee: number } {
  let [amount, fee] = [0, 0]
  for (const part of parts) {
    amount += part.amount
    fee += part.fee
  }
  return { amount, fee }
}
