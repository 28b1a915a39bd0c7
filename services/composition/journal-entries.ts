import type { Dependencies } from '../../packages/contract/routes.ts'
import { book } from '../../packages/domain/ledger/book.ts'
import type { LedgerEvents } from '../../packages/domain/ledger/events.ts'
import { recordedEvent } from '../../packages/kernel/history.ts'
import type { RecordedEvent } from '../../packages/kernel/projection.ts'
import type { Where } from '../../packages/kernel/read-ports.ts'
import { journal } from '../../projections/journal.ts'

const waitMs = 5_000

/** The entry of a book that was posted at once, found by the journal as it is now. */
export async function findEntry(
  { store, reads }: Pick<Dependencies, 'store' | 'reads'>,
  where: readonly Where[],
): Promise<RecordedEvent<LedgerEvents['EntryPosted']> | undefined> {
  await reads.reached(await store.head(), waitMs, journal.name)
  const posted = { column: 'step', operator: '=', value: 'EntryPosted' } as const
  const first = { column: 'line', operator: '=', value: 1 } as const
  const query = { from: journal.name, where: [...where, posted, first], order: 'position', limit: 1 }
  const [row] = (await reads.page<{ position: number }>(query)).rows
  const [event] = row ? await store.readAll(row.position - 1, 1) : []
  if (!event || event.position !== row?.position) return undefined
  // The journal has rows of the ledger's events only, and this one is of `EntryPosted`.
  return recordedEvent(book, event) as RecordedEvent<LedgerEvents['EntryPosted']>
}
