import { AmountMinor, literals, record, type Static } from '../../contract/vocabulary.ts'
import { Account, classOf, type AccountCode } from './accounts.ts'

export const Posting = record({ account: Account, side: literals('debit', 'credit'), amount: AmountMinor })
export type Posting = Static<typeof Posting>

export function debit(account: AccountCode, amount: number): Posting {
  return { account, side: 'debit', amount }
}

export function credit(account: AccountCode, amount: number): Posting {
  return { account, side: 'credit', amount }
}

export function mirror({ account, side, amount }: Posting): Posting {
  return side === 'debit' ? credit(account, amount) : debit(account, amount)
}

/** What a posting adds to its account's balance: debits raise assets, credits raise everything else. */
export function effect({ account, side, amount }: Posting): number {
  const raises = classOf(account) === 'asset' ? 'debit' : 'credit'
  return side === raises ? amount : -amount
}

/** The sum of one side, or of one side on one account. */
export function sum(postings: readonly Posting[], side: Posting['side'], account?: AccountCode): number {
  let total = 0
  for (const posting of postings) {
    if (posting.side === side && (!account || posting.account === account)) total += posting.amount
  }
  return total
}

/** L1. Drops zeros. Throws for an entry that does not balance: its caller has a bug. */
export function balanced(postings: readonly Posting[]): Posting[] {
  const moving = postings.filter(({ amount }) => amount !== 0)
  const problem = problemOf(moving)
  if (problem) throw new Error(`${problem}: ${JSON.stringify(postings)}`)
  return moving
}

function problemOf(postings: readonly Posting[]): string | undefined {
  const debits = sum(postings, 'debit')
  const isExact = postings.every(({ amount }) => Number.isSafeInteger(amount) && amount > 0)
  if (!isExact || !Number.isSafeInteger(debits)) return 'amounts must be positive safe integers'
  if (postings.length < 2) return 'an entry needs two postings'
  if (debits !== sum(postings, 'credit')) return 'debits and credits differ'
  return undefined
}
