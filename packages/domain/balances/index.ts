import type { Family } from '../../contract/family.ts'
import { lowerCurrencies } from '../../contract/locale/lower-currencies.ts'
import type { PublicSource } from '../../contract/webhooks/public-events.ts'
import type { AnyDecider } from '../../kernel/decider.ts'
import type { RecordedEvent } from '../../kernel/projection.ts'
import { parseBookId } from '../ledger/accounts.ts'
import { book } from '../ledger/book.ts'
import type { LedgerEvents } from '../ledger/events.ts'
import { balances as balancesOf } from '../ledger/state.ts'
import { availableTemplates, BalanceResource, viewBalance } from './balance.ts'
import { afterShown, shownAccounts, type ShownAccounts } from './movement.ts'

/** Merchants see four accounts, so a book's others and its holds are not tracked a second time. */
const shownAlone: AnyDecider = {
  ...book,
  initial: () => shownAccounts(book.initial()),
  evolve: {
    EntryPosted: afterShown,
    HoldPlaced: afterShown,
    HoldAdvanced: afterShown,
    HoldPosted: afterShown,
    HoldVoided: afterShown,
    EntryRefused: unchanged,
    BookClosed: unchanged,
    BookReopened: unchanged,
  } satisfies Record<keyof typeof book.evolve, unknown>,
  snapshot: { ...book.snapshot!, restored: (kept) => shownAccounts(kept as ShownAccounts) },
}

/** What is no entry moves nothing. */
function unchanged(shown: ShownAccounts): ShownAccounts {
  return shown
}

const inWebhook = lowerCurrencies(BalanceResource)

const told: PublicSource = {
  decider: shownAlone,
  resource: 'balance',
  scope: 'balance.read',
  types: { 'balance.available': 'Money has become available in the balance.' },
  typeOf: ({ type, data }) => {
    if (type !== 'EntryPosted') return undefined
    const { template } = data as LedgerEvents['EntryPosted']
    return availableTemplates.includes(template) ? 'balance.available' : undefined
  },
  data: inWebhook.schema,
  view: (id, state: ShownAccounts, { metadata }: RecordedEvent) => {
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
