import { postings } from './views.ts'
import type { ReadTransaction } from '../client/read-transaction.ts'

export interface Period {
  readonly from: Date
  /** The first moment after it. */
  readonly to: Date
  /** Only what was known by then. Left out: all that is. */
  readonly knownAt?: Date
}

export const exportedColumns: readonly string[] = postings.columns.map(([name]) => name)

/**
 * Lines of the journal that count in a period, in log order. What was known leaves out the first entry of a
 * book that was written later, and all behind it.
 */
export function exportedPostings(
  moment: ReadTransaction,
  { from, to, knownAt }: Period,
): AsyncGenerator<readonly object[], void> {
  return moment.batches(
    `select p.* from finance.${postings.name} p
     left join (
       select book, min(log_position) as since from finance.${postings.name} where occurred_at > $3 group by book
     ) unknown on unknown.book = p.book
     where p.effective_at >= $1 and p.effective_at < $2 and (unknown.since is null or p.log_position < unknown.since)
     order by p.log_position, p.line`,
    [from, to, knownAt ?? null],
  )
}
