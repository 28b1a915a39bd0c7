import { createHash } from 'node:crypto'
import type { RecordedEvent } from '../../packages/kernel/projection.ts'
import { effectOf } from './book-audit.ts'
import type { EntryData } from './entry-data.ts'
import type { Note } from './violations.ts'

/** As it stands in the log. Nothing of the code that closes months is used: an auditor counts again. */
interface ClosingData {
  readonly from: string
  readonly to: string
  readonly books: readonly ClosedBookData[]
}

interface ClosedBookData {
  readonly currency: string
  readonly before: number
  readonly entries: number
  readonly accounts: readonly ({ readonly account: string } & Sums)[]
  readonly files: readonly { readonly name: string; readonly sha256: string }[]
}

interface Sums {
  opening: number
  debits: number
  credits: number
  closing: number
}

interface Claim {
  readonly month: string
  readonly from: string
  readonly to: string
  readonly book: ClosedBookData
}

export const closedType = 'PeriodClosed'
export const reopenedType = 'PeriodReopened'

/** Months that were closed, whose books are looked at once more: what they count is known only afterwards. */
export class ClosedMonths {
  readonly #note: Note
  readonly #claims = new Map<string, Claim[]>()
  readonly #cells = new Map<string, BookCells>()

  constructor(note: Note) {
    this.#note = note
  }

  closed({ stream, id, data }: RecordedEvent): void {
    const { from, to, books } = data as ClosingData
    for (const book of books) {
      const key = `ledger-${id.slice(0, id.lastIndexOf('.'))}.${book.currency}`
      const claims = this.#claims.get(key) ?? []
      this.#claims.set(key, claims)
      claims.push({ month: stream, from, to, book })
    }
  }

  /** Whose events are to be added before the end. */
  get streams(): readonly string[] {
    return [...this.#claims.keys()]
  }

  add(stream: string, revision: number, entry: EntryData): void {
    const claims = this.#claims.get(stream)
    if (!claims || !Array.isArray(entry.postings)) return
    const cells = this.#cells.get(stream) ?? new BookCells(claims)
    this.#cells.set(stream, cells)
    cells.add(revision, entry)
  }

  end(): void {
    for (const [stream, claims] of this.#claims) {
      const cells = this.#cells.get(stream) ?? new BookCells(claims)
      for (const claim of claims) {
        try {
          this.#compare(claim, cells.counted(claim))
        } catch (error) {
          // Whoever changes an event may leave anything in it.
          this.#note('months', `${claim.month} does not say what was closed: ${(error as Error).message}`)
        }
      }
    }
  }

  #compare({ month, book }: Claim, { entries, accounts }: Counted): void {
    const { currency } = book
    const say = (problem: string) => this.#note('months', problem)
    if (entries !== book.entries)
      say(`${month} has ${entries} entries in ${currency}, and was closed with ${book.entries}`)
    const closed = new Map(book.accounts.map(({ account, ...sums }) => [account, sums]))
    const found = byLine(accounts, closed)
    for (const name of new Set([...closed.keys(), ...found.keys()])) {
      const [is, was] = [found.get(name), closed.get(name)].map((sums) => sums && sumsText(sums))
      if (is === was) continue
      const isText =
        is === undefined ? `nothing on ${name} in ${currency}` : `${name} in ${currency} with ${is}`
      say(`${month} has ${isText}, and was closed ${was === undefined ? 'without it' : `with ${was}`}`)
    }
    this.#compareFile({ month, book }, accounts)
  }

  /** The one file that follows from the entries alone; the others name people and references too. */
  #compareFile({ month, book }: Pick<Claim, 'month' | 'book'>, accounts: Counted['accounts']): void {
    const file = book.files.find(({ name }) => name === balancesFile)
    const key = `${month.slice('period-'.length, month.lastIndexOf('.'))}.${book.currency}`
    const rows = [...accounts].toSorted(([one], [other]) => (one < other ? -1 : 1))
    const lines = rows.map(([account, { opening, debits, credits, closing }]) =>
      [key, account, opening, debits, credits, closing].join(),
    )
    const text = [balancesHeader, ...lines].map((line) => `${line}\r\n`).join('')
    const digest = createHash('sha256').update(text).digest('hex')
    if (file?.sha256 === digest) return
    const problem = `has the digest ${digest}, and was closed with ${file?.sha256 ?? 'no such file'}`
    this.#note('months', `${balancesFile} of ${month} in ${book.currency} ${problem}`)
  }
}

const balancesFile = 'balances.csv'
const balancesHeader = 'book,account,opening,debits,credits,closing'

const nothing: Sums = { opening: 0, debits: 0, credits: 0, closing: 0 }

function sumsText({ opening, debits, credits, closing }: Sums): string {
  return `${opening} + ${debits} debits + ${credits} credits = ${closing}`
}

/** Accounts of which there may be many are closed as one line, such as `wallet:*`. */
function byLine(accounts: Counted['accounts'], closed: ReadonlyMap<string, unknown>): Map<string, Sums> {
  const lines = new Map<string, Sums>()
  for (const [account, sums] of accounts) {
    const kind = `${account.slice(0, account.indexOf(':'))}:*`
    const name = !closed.has(account) && closed.has(kind) ? kind : account
    const known = lines.get(name) ?? { ...nothing }
    for (const key of ['opening', 'debits', 'credits', 'closing'] as const) known[key] += sums[key]
    lines.set(name, known)
  }
  return lines
}

interface Counted {
  readonly entries: number
  /** Those with an opening or a movement. */
  readonly accounts: ReadonlyMap<string, Sums>
}

interface Cell {
  entries: number
  readonly accounts: Map<string, { debits: number; credits: number; effect: number }>
}

/**
 * A book, summed between all the times and revisions at which its months begin and end. So each entry is
 * looked at once, however many months there are.
 */
class BookCells {
  readonly #times: readonly string[]
  readonly #revisions: readonly number[]
  readonly #cells = new Map<string, Cell & { readonly time: number; readonly revision: number }>()

  constructor(claims: readonly Claim[]) {
    this.#times = [...new Set(claims.flatMap(({ from, to }) => [from, to]))].sort()
    const revisions = new Set(claims.map(({ book }) => book.before))
    this.#revisions = [...revisions].sort((one, other) => one - other)
  }

  add(at: number, { effectiveAt, postings }: EntryData): void {
    const time = firstAfter(this.#times, effectiveAt)
    const revision = firstAfter(this.#revisions, at)
    const key = `${time} ${revision}`
    const cell = this.#cells.get(key) ?? {
      time,
      revision,
      entries: 0,
      accounts: new Map() as Cell['accounts'],
    }
    this.#cells.set(key, cell)
    cell.entries++
    for (const posting of postings) {
      const sums = cell.accounts.get(posting.account) ?? { debits: 0, credits: 0, effect: 0 }
      cell.accounts.set(posting.account, sums)
      sums[posting.side === 'debit' ? 'debits' : 'credits'] += posting.amount
      sums.effect += effectOf(posting)
    }
  }

  counted({ from, to, book }: Claim): Counted {
    const [begin, end] = [firstAfter(this.#times, from), firstAfter(this.#times, to)]
    const through = firstAfter(this.#revisions, book.before)
    const accounts = new Map<string, Sums>()
    let entries = 0
    for (const cell of this.#cells.values()) {
      if (cell.time >= end || cell.revision >= through) continue
      const isInside = cell.time >= begin
      if (isInside) entries += cell.entries
      for (const [account, { debits, credits, effect }] of cell.accounts) {
        const sums = accounts.get(account) ?? { ...nothing }
        accounts.set(account, sums)
        sums.closing += effect
        if (!isInside) sums.opening += effect
        else Object.assign(sums, { debits: sums.debits + debits, credits: sums.credits + credits })
      }
    }
    for (const [account, { opening, debits, credits }] of accounts)
      if (opening === 0 && debits + credits === 0) accounts.delete(account)
    return { entries, accounts }
  }
}

/** Index of the first of these that is greater. */
function firstAfter<Value extends string | number>(sorted: readonly Value[], value: Value): number {
  let [low, high] = [0, sorted.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (sorted[middle]! > value) high = middle
    else low = middle + 1
  }
  return low
}
