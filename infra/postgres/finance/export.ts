import { postings } from './views.ts'
import type { ReadTransaction } from '../client/read-transaction.ts'

export interface Period {
  readonly from: Date
  /** The first moment after it. */
  readonly to: Date
}

export const exportedColumns: readonly string[] = postings.columns.map(([name]) => name)

/** Lines of the journal that count in a period, in log order. */
export function exportedPostings(
  moment: ReadTransaction,
  { from, to }: Period,
): AsyncGenerator<readonly object[], void> {
  return moment.batches(
    `select * from finance.${postings.name} where effective_at >= $1 and effective_at < $2
     order by log_position, line`,
    [from, to],
  )
}
