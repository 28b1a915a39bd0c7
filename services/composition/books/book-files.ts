import {
  statementEntry,
  statementHead,
  statementTail,
  type StatementEntry,
} from '../../../infra/exports/camt053.ts'
import { csvHeader, csvRows } from '../../../infra/exports/csv.ts'
import { derivedId, publicId } from '../../../packages/contract/identity.ts'
import type { Dependencies } from '../../../packages/contract/routes.ts'
import { idPrefixes } from '../../../packages/domain/index.ts'
import {
  bookId,
  merchantAvailable,
  type AccountCode,
  type BookKey,
} from '../../../packages/domain/ledger/accounts.ts'
import type { Entry } from '../../../packages/domain/ledger/events.ts'
import { effect } from '../../../packages/domain/ledger/postings.ts'
import type { Window } from '../../../packages/kernel/time/calendar.ts'
import type { RecordedEvent } from '../../../packages/kernel/projection.ts'
import { wholeBook } from './book-history.ts'
import { operatorReferences } from './operator-references.ts'

type Stores = Pick<Dependencies, 'store' | 'reads'>
type Recorded = RecordedEvent<Entry>

export interface BookWindow extends Window {
  readonly book: BookKey
  readonly merchantName: string
  /** Entries of the book from this revision on are left out. */
  readonly before: number
}

/** What moved on one account, in minor units. */
export interface Movement {
  readonly account: AccountCode
  opening: number
  debits: number
  credits: number
  closing: number
}

export interface Movements {
  /** Those with an opening or a movement, in the order of their names. */
  readonly accounts: readonly Movement[]
  readonly entries: number
}

/** The accounts of a book over a range of time: read from its stream alone. */
export async function movementsOf(
  stores: Stores,
  { book, from, to, before }: BookWindow,
): Promise<Movements> {
  const accounts = new Map<AccountCode, Movement>()
  let entries = 0
  for await (const { revision, data } of wholeBook(stores, book)) {
    if (revision >= before) break
    if (data.effectiveAt >= to) continue
    const isInside = data.effectiveAt >= from
    if (isInside) entries++
    for (const posting of data.postings) {
      const { account, side, amount } = posting
      const known = accounts.get(account) ?? { account, opening: 0, debits: 0, credits: 0, closing: 0 }
      accounts.set(account, known)
      known.closing += effect(posting)
      if (!isInside) known.opening += effect(posting)
      else known[side === 'debit' ? 'debits' : 'credits'] += amount
    }
  }
  const moved = [...accounts.values()].filter(
    ({ opening, debits, credits }) => opening !== 0 || debits + credits > 0,
  )
  return { accounts: moved.toSorted((one, other) => (one.account < other.account ? -1 : 1)), entries }
}

const journalColumns = [
  'transaction_id',
  'entry_id',
  'log_position',
  'book',
  'merchant_name',
  'template',
  'subject_type',
  'subject_id',
  'operator_reference',
  'line',
  'account',
  'currency',
  'debit',
  'credit',
  'effective_at',
  'belongs_to',
  'recorded_at',
] as const

const balanceColumns = ['book', 'account', 'opening', 'debits', 'credits', 'closing'] as const

export interface WrittenFile {
  readonly name: string
  readonly content: AsyncIterable<string>
}

/**
 * The files of a book for finance. They follow from the log and the name alone, so they are the same bytes on
 * every machine. Each reads the book when it is read itself.
 */
export function filesOf(stores: Stores, window: BookWindow, { accounts }: Movements): readonly WrittenFile[] {
  const rows = () => journalRows(stores, window)
  return [
    { name: 'journal.csv', content: asCsv(journalColumns, rows()) },
    { name: 'journal.jsonl', content: asJsonLines(rows()) },
    { name: 'balances.csv', content: asCsv(balanceColumns, balanceRows(window, accounts)) },
    { name: 'camt.053.xml', content: asStatement(stores, window, accounts) },
  ]
}

async function* asCsv(columns: readonly string[], pages: AsyncIterable<readonly object[]>) {
  yield csvHeader(columns)
  for await (const rows of pages) yield csvRows(columns, rows)
}

async function* asJsonLines(pages: AsyncIterable<readonly object[]>) {
  for await (const rows of pages) yield rows.map((row) => `${JSON.stringify(row)}\n`).join('')
}

async function* balanceRows({ book }: BookWindow, accounts: readonly Movement[]) {
  const { merchant, livemode, currency } = book
  // Text, so that a minus stays what it is: only texts from outside are looked at for formulas.
  yield accounts.map((one) => ({ book: bookId(merchant, livemode, currency), ...one }))
}

async function* journalRows(stores: Stores, window: BookWindow): AsyncGenerator<readonly object[], void> {
  const { merchant, livemode, currency } = window.book
  const book = bookId(merchant, livemode, currency)
  for await (const page of pagesOf(stores, window)) {
    const references = await operatorReferences(stores, page)
    yield page.flatMap(({ data, position, metadata }) => {
      const { entryId, template, subject, effectiveAt, belongsTo } = data
      const shared = {
        transaction_id: publicId('txn', entryId),
        entry_id: entryId,
        log_position: position,
        book,
        merchant_name: window.merchantName,
        template,
        subject_type: subject.type,
        subject_id: publicSubject(subject),
        operator_reference: references.get(subject.id) ?? '',
      }
      const times = { effective_at: effectiveAt, belongs_to: belongsTo ?? '', recorded_at: metadata.at }
      return data.postings.map(({ account, side, amount }, index) => {
        const [debit, credit] = side === 'debit' ? [amount, 0] : [0, amount]
        return { ...shared, line: index + 1, account, currency, debit, credit, ...times }
      })
    })
  }
}

function publicSubject({ type, id }: Entry['subject']): string {
  const prefix = idPrefixes[type]
  return prefix === undefined ? id : publicId(prefix, id)
}

async function* asStatement(stores: Stores, window: BookWindow, accounts: readonly Movement[]) {
  const { book, merchantName: owner, from, to } = window
  const { merchant, livemode, currency } = book
  const own = accounts.find(({ account }) => account === merchantAvailable)
  const account = `${livemode ? 'L' : 'T'}${merchant.replaceAll('-', '')}`
  const id = derivedId(merchant, `statement ${bookId(merchant, livemode, currency)} ${from} ${to}`)
  yield statementHead({
    id: id.replaceAll('-', ''),
    account,
    accountName: bookId(merchant, livemode, currency),
    owner,
    currency,
    from,
    to,
    opening: own?.opening ?? 0,
    closing: own?.closing ?? 0,
  })
  for await (const page of pagesOf(stores, window)) {
    const references = await operatorReferences(stores, page)
    const booked = page.flatMap((event) => bookedOn(event, references.get(event.data.subject.id) ?? ''))
    yield booked.map((entry) => statementEntry(entry, currency)).join('')
  }
  yield statementTail
}

/** What an entry does to the merchant's account; nothing for entries that leave it alone. */
function bookedOn({ data, metadata }: Recorded, reference: string): readonly StatementEntry[] {
  const own = data.postings.filter(({ account }) => account === merchantAvailable)
  const amount = own.reduce((sum, posting) => sum + effect(posting), 0)
  if (amount === 0) return []
  const { entryId, template: kind, effectiveAt } = data
  const [id, short] = [entryId, reference].map((uuid) => uuid.replaceAll('-', '')) as [string, string]
  return [{ id, reference: short, kind, amount, effectiveAt, recordedAt: metadata.at }]
}

const entriesPerPage = 500

async function* pagesOf(
  stores: Stores,
  { book, from, to, before }: BookWindow,
): AsyncGenerator<readonly Recorded[]> {
  let page: Recorded[] = []
  for await (const event of wholeBook(stores, book)) {
    if (event.revision >= before) break
    const { effectiveAt } = event.data
    if (effectiveAt < from || effectiveAt >= to) continue
    page.push(event)
    if (page.length < entriesPerPage) continue
    yield page
    page = []
  }
  if (page.length > 0) yield page
}
