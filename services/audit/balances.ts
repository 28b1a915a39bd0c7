import {
  classOf,
  parseBookId,
  type AccountClass,
  type AccountCode,
} from '../../packages/domain/ledger/accounts.ts'
import { book } from '../../packages/domain/ledger/book.ts'
import type { Book } from '../../packages/domain/ledger/state.ts'
import { evolve, type AnyDecider } from '../../packages/kernel/decider.ts'
import type { EventStore } from '../../packages/kernel/ports.ts'
import type { RecordedEvent } from '../../packages/kernel/projection.ts'
import { LogFold, type Fold } from './log-fold.ts'

export interface AccountBalance {
  readonly account: string
  readonly class: AccountClass
  readonly balance: number
}

export interface BookBalances {
  readonly book: string
  readonly merchant: string
  readonly environment: 'live' | 'sandbox'
  readonly currency: string
  readonly accounts: readonly AccountBalance[]
}

export interface Replayed {
  readonly position: number
  readonly events: number
  readonly books: readonly BookBalances[]
  /** Books that the decider cannot fold, and why. */
  readonly faults: ReadonlyMap<string, string>
}

export interface FoldBooksOptions {
  readonly store: Pick<EventStore, 'readOn' | 'head'>
  readonly deciders: readonly AnyDecider[]
  readonly onProgress: (done: number, of: number) => void
}

/** Every book as its decider folds it from its first event, up to where the log ends now. */
export async function foldBooks({ store, deciders, onProgress }: FoldBooksOptions): Promise<Replayed> {
  const states = new Map<string, Book>()
  const position = await store.head()
  let events = 0
  const apply = (event: RecordedEvent) => {
    events++
    const before = states.get(event.id) ?? book.initial()
    states.set(event.id, evolve(book as AnyDecider, before, event, event.metadata) as Book)
  }
  const follows: Fold['follows'] = (_, category) => category === book.category
  const fold: Fold = { follows, apply, position: 0, through: position, parked: new Map(), faults: new Map() }
  await new LogFold(store, deciders, (read) => onProgress(read, position)).run([fold])
  const books = [...states].map(([id, state]) => viewBook(id, state))
  return {
    position,
    events,
    books: books.toSorted((one, other) => (one.book < other.book ? -1 : 1)),
    faults: fold.faults,
  }
}

function viewBook(id: string, { balances }: Book): BookBalances {
  const { merchant, livemode, currency } = parseBookId(id)
  const accounts = Object.entries(balances)
    // A book's state has account codes as its keys, and nothing else.
    .map(([account, balance]) => ({ account, class: classOf(account as AccountCode), balance }))
    .toSorted((one, other) => (one.account < other.account ? -1 : 1))
  return { book: id, merchant, environment: livemode ? 'live' : 'sandbox', currency, accounts }
}
