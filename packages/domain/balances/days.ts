import type { Balances } from '../ledger/state.ts'
import { nothing, sumOf } from './movement.ts'

/** Revisions are added up in two parts, so that each sum stays exact. */
const blockSize = 2 ** 20

/** What a revision adds to the sums of its day. */
export function revisionParts(revision: number) {
  return { revision_blocks: Math.floor(revision / blockSize), revision_rests: revision % blockSize }
}

/** What a book's entries of one day come to: a row of the read model `balance_days`. */
export interface BalanceDay extends Balances, Readonly<ReturnType<typeof revisionParts>> {
  readonly day: string
  readonly entries: number
}

/** The first entries of a book, so many as are counted. */
interface Prefix {
  readonly sum: Balances
  readonly entries: number
}

export interface Stretch {
  /** All before: whole days, and known to lie in front of everything that is read. */
  readonly start: Prefix
  /** From here on all is of later days, as far as the rows reach. */
  readonly end: number
  /** What the rows reach. */
  readonly total: number
}

/**
 * Which entries must be read for the balance of some time on a day. Clocks of two processes differ, so
 * entries of one day may lie among those of another: days are taken as whole only where their entries are the
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

/** The sum of the first so many revisions. */
function firstRevisions(entries: number): bigint {
  return (BigInt(entries) * BigInt(entries - 1)) / 2n
}
