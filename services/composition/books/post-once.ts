import { Refusal } from '../../../packages/contract/refusals.ts'
import type { Dependencies } from '../../../packages/contract/routes.ts'
import { book } from '../../../packages/domain/ledger/book.ts'
import type { PostEntry } from '../../../packages/domain/ledger/commands.ts'
import { findEntry } from './journal-entries.ts'

interface Posting {
  readonly bookId: string
  readonly entry: PostEntry
  readonly send: (entry: PostEntry) => Promise<unknown>
}

/**
 * Posts what a person asks for. A book that has forgotten some of such entries cannot tell whether this is
 * one of them: then the journal is looked at, and what is there is not posted again.
 */
export async function postOnce(dependencies: Dependencies, { bookId, entry, send }: Posting): Promise<void> {
  try {
    await send(entry)
  } catch (error) {
    if (!(error instanceof Refusal) || error.reason !== 'resource_must_not_have_changed') throw error
    const { requested } = (await dependencies.executor.current(book, bookId)).state
    const bySubject = { column: 'subject', operator: '=', value: entry.subject.id } as const
    if (!(await findEntry(dependencies, [bySubject]))) await send({ ...entry, notAmong: requested })
  }
}
