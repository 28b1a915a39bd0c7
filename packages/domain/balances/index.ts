import type { Family } from '../../contract/family.ts'
import { lowerCurrencies } from '../../contract/lower-currencies.ts'
import type { PublicSource } from '../../contract/public-events.ts'
import type { RecordedEvent } from '../../kernel/projection.ts'
import { parseBookId } from '../ledger/accounts.ts'
import { book } from '../ledger/book.ts'
import type { LedgerEvents } from '../ledger/events.ts'
import { afterPostings, balances as balancesOf, balancesFrom, type Book } from '../ledger/state.ts'
import { availableTemplates, BalanceResource, viewBalance } from './balance.ts'

/** Merchants see balances, so holds and what has ended need not be tracked a second time. */
const balancesAlone: typeof book.evolve = {
  EntryPosted: afterPostings,
  HoldPlaced: afterPostings,
  HoldAdvanced: afterPostings,
  HoldPosted: afterPostings,
  HoldVoided: afterPostings,
  EntryRefused: unchanged,
  BookClosed: unchanged,
  BookReopened: unchanged,
}

/** What is no entry moves nothing. */
function unchanged(book: Book): Book {
  return book
}

const inWebhook = lowerCurrencies(BalanceResource)

const told: PublicSource = {
  decider: {
    ...book,
    evolve: balancesAlone,
    ...(book.snapshot && { snapshot: { ...book.snapshot, restored: balancesFrom } }),
  },
  resource: 'balance',
  scope: 'balance.read',
  types: { 'balance.available': 'Money has become available in the balance.' },
  typeOf: ({ type, data }) => {
    if (type !== 'EntryPosted') return undefined
    const { template } = data as LedgerEvents['EntryPosted']
    return availableTemplates.includes(template) ? 'balance.available' : undefined
  },
  data: inWebhook.schema,
  view: (id, state: Book, { metadata }: RecordedEvent) => {
    const { currency } = parseBookId(id)
    const owner = { livemode: metadata.livemode, asOf: metadata.at }
    return inWebhook.lower(viewBalance([{ ...balancesOf(state), currency }], owner))
  },
}

/** The merchant's view of the books. */
export const balances: Family = {
  name: 'balances',
  ids: { balance_transaction: 'txn' },
  scopes: ['balance.read'],
  streams: [],
  publicEvents: [told],
}
