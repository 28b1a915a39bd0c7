import { bookId } from '../../packages/domain/ledger/accounts.ts'
import { book } from '../../packages/domain/ledger/book.ts'
import type { Book } from '../../packages/domain/ledger/state.ts'
import { streamName } from '../../packages/kernel/decider.ts'
import { readState } from '../../packages/kernel/history.ts'
import type { Runtime } from '../../services/composition/dependencies.ts'
import type { BenchMerchant } from './merchants.ts'
import { seedEvents } from './seed.ts'
import { payoutTemplate } from './load/template.ts'

export interface BigBook {
  readonly merchant: BenchMerchant
  /** Whose payout is multiplied. */
  readonly template: BenchMerchant
  readonly entries: number
}

/**
 * Makes payouts from one book until it has this many entries, and the snapshot that the service would have
 * kept of it.
 */
export async function seedBook(runtime: Runtime, { merchant, template, entries }: BigBook): Promise<void> {
  const { pool } = runtime.postgres
  const { vault } = runtime.dependencies
  const stream = streamName(book.category, bookId(merchant.id, false, 'XOF'))
  const before = await readState(runtime.dependencies.store, book, bookId(merchant.id, false, 'XOF'))
  const paid = await payoutTemplate(runtime.dependencies, template, 'paid')
  const perPayout = paid.events.filter((event) => event.stream.startsWith('ledger-')).length
  const payouts = Math.ceil(entries / perPayout)
  await seedEvents({ pool, vault, merchants: [merchant], payouts }, paid)
  const state = afterPayouts(
    before,
    await readState(runtime.dependencies.store, book, bookId(template.id, false, 'XOF')),
    payouts,
  )
  const snapshot = { revision: payouts * perPayout, state }
  await runtime.snapshots.save(stream, book.snapshot!.version, snapshot)
}

/** The template's book has made one payout from the same grant; each payout moves the same amounts. */
function afterPayouts(before: Book, afterOne: Book, payouts: number): Book {
  const accounts = Object.keys(afterOne.balances)
  const balances = Object.fromEntries(
    accounts.map((account) => {
      const start = before.balances[account] ?? 0
      return [account, start + payouts * ((afterOne.balances[account] ?? 0) - start)]
    }),
  )
  return { ...before, balances }
}
