import { refuse } from '../../../packages/contract/refusals.ts'
import type { Dependencies } from '../../../packages/contract/routes.ts'
import { book } from '../../../packages/domain/ledger/book.ts'
import type { LedgerEvents } from '../../../packages/domain/ledger/events.ts'
import { recordedEvent } from '../../../packages/kernel/history.ts'
import type { RecordedEvent } from '../../../packages/kernel/projection.ts'
import type { Where } from '../../../packages/kernel/ports/reads.ts'
import { journal } from '../../../projections/journal.ts'

const waitMs = 5_000

/** An entry posted at once by the book, looked up in the current journal. */
export async function findEntry(
  { store, reads }: Pick<Dependencies, 'store' | 'reads'>,
  where: readonly Where[],
): Promise<RecordedEvent<LedgerEvents['EntryPosted']> | undefined> {
  if (!(await reads.reached(await store.head(), waitMs, journal.name)))
    refuse('read_model_must_have_caught_up')
  const posted = { column: 'step', operator: '=', value: 'EntryPosted' } as const
  const first = { column: 'line', operator: '=', value: 1 } as const
  const query = { from: journal.name, where: [...where, posted, first], order: 'position', limit: 1 }
  const [row] = (await reads.page<{ position: number }>(query)).rows
  const event = row && (await store.readAt(row.position))
  if (!event || event.position !== row?.position) return undefined
  // The journal contains only ledger events, and this one is an `EntryPosted`.
  return recordedEvent(book, event) as RecordedEvent<LedgerEvents['EntryPosted']>
}
