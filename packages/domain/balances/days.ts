import type { Balances } from '../ledger/state.ts'
import { nothing, sumOf } from './movement.ts'

/** Revisions are summed in two parts, so that each sum stays exact. */
const blockSize = 2 ** 20

/** What a revision adds to its day's sums. */
export function revisionParts(revision: number) {
  return { revision_blocks: Math.floor(revision / blockSize), revision_rests: revision % blockSize }
}

/** A book's entries of one day: a row of the read model `balance_days`. */
export interface BalanceDay extends Balances, Readonly<ReturnType<typeof revisionParts>> {
  readonly day: string
  readonly entries: number
}

/** The book's first entries, this many of them. */
interface Prefix {
  readonly sum: Balances
  readonly entries: number
}

export interface Stretch {
  /** Whole days that certainly precede every entry read one by one. */
  readonly start: Prefix
  /** From here on, all entries are of later days, as far as the rows go. */
  readonly end: number
  /** How far the rows go. */
  readonly total: number
}

/**
 * Which entries must be read for the balance at some time of a day. The clocks of two processes differ, so
 * entries of one day may stand among those of another: days count as whole only where their entries are the
 * book's first ones without a gap, and nothing has a smaller sum of revisions than those.
 */
export function stretchOf(days: readonly BalanceDay[], day: string): Stretch {
  let before: Prefix = { sum: nothing, entries: 0 }
  let start = before
  let end: number | undefined
  let revisions = 0n
  for (const [index, row] of [...days, undefined].entries()) {
    const isPrefix = revisions === firstRevisions(before.entries)
    if (isPrefix && (days[index - 1]?.day ?? '') < day) start = before
    if (isPrefix && (row?.day ?? lastDay) > day) end ??= before.entries
    if (!row) break
    before = { sum: sumOf(before.sum, row), entries: before.entries + row.entries }
    revisions += BigInt(row.revision_blocks) * BigInt(blockSize) + BigInt(row.revision_rests)
  }
  return { start, end: end ?? before.entries, total: before.entries }
}

const lastDay = '9999-12-31'

/** The sum of the first revisions, this many of them. */
function firstRevisions(entries: number): bigint {
  return (BigInt(entries) * BigInt(entries - 1)) / 2n
}
