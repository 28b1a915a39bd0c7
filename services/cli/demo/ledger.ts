import { identity } from '../../../packages/contract/identity.ts'
import { bookId } from '../../../packages/domain/ledger/accounts.ts'
import { book } from '../../../packages/domain/ledger/book.ts'
import type { Entry } from '../../../packages/domain/ledger/events.ts'
import { effect } from '../../../packages/domain/ledger/postings.ts'
import { streamName } from '../../../packages/kernel/decider.ts'
import { recordedEvent } from '../../../packages/kernel/history.ts'
import type { RecordedEvent } from '../../../packages/kernel/projection.ts'
import type { Runtime } from '../../composition/dependencies.ts'
import { table } from '../terminal/output.ts'

export interface ShownPosting {
  readonly template: string
  readonly account: string
  readonly debit: number | null
  readonly credit: number | null
  readonly balance: number
}

export interface Asked {
  readonly merchant: string
  readonly currency: string
  /** Public ids of what the entries are about. */
  readonly resources: readonly string[]
}

const eventsPerRead = 1_000

/** The postings of some resources in the sandbox book, each with its account's balance after it. */
export async function postingsOf(
  { dependencies }: Runtime,
  { merchant, currency, resources }: Asked,
): Promise<readonly ShownPosting[]> {
  const subjects = new Set(resources.map((id) => identity(id, 'pi', 'po')))
  const stream = streamName(book.category, bookId(merchant, false, currency))
  const balances = new Map<string, number>()
  const shown: ShownPosting[] = []
  for (let from = 0; ;) {
    const events = await dependencies.store.readStream(stream, from, eventsPerRead)
    if (events.length === 0) return shown
    from += events.length
    for (const event of events) {
      // The book's own events are entries.
      const { data } = recordedEvent(book, event) as RecordedEvent<Entry>
      const lines = data.postings.map((posting) => {
        const balance = (balances.get(posting.account) ?? 0) + effect(posting)
        balances.set(posting.account, balance)
        const { account, side, amount } = posting
        return {
          template: data.template,
          account,
          debit: side === 'debit' ? amount : null,
          credit: side === 'credit' ? amount : null,
          balance,
        }
      })
      if (subjects.has(data.subject.id)) shown.push(...lines)
    }
  }
}

export function postingsText(postings: readonly ShownPosting[]): string {
  let last = ''
  const rows = postings.map(({ template, ...rest }) => {
    const entry = template === last ? ' ' : template
    last = template
    return { entry, ...rest }
  })
  return table(rows, 'There are no postings.')
}
