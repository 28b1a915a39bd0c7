import {
  classOf,
  mayGoBelowZero,
  parseBookId,
  type AccountCode,
} from '../../../packages/domain/ledger/accounts.ts'
import type { Entry } from '../../../packages/domain/ledger/events.ts'
import { parseStreamName } from '../../../packages/kernel/decider.ts'
import { owns } from '../../../packages/kernel/owner.ts'
import type { StoredEvent } from '../../../packages/kernel/ports.ts'

interface OpenHold {
  readonly total: number
  state: 'placed' | 'advanced'
}

/** A book as somebody keeps it who reads nothing but the postings. */
export interface ShadowBook {
  readonly balances: Map<string, number>
  readonly holds: Map<string, OpenHold>
  readonly ended: Map<string, 'HoldPosted' | 'HoldVoided'>
  readonly entries: Map<string, string>
  readonly reversed: Set<string>
  heldTotal: number
}

type Violate = (law: string, fact: string) => void

/** Laws L1 to L6 and L8 of the domain model, looked at after each entry. */
export class LedgerLaws {
  readonly books = new Map<string, ShadowBook>()
  readonly #violate: Violate

  constructor(violate: Violate) {
    this.#violate = violate
  }

  onCommit(event: StoredEvent): void {
    const { category, id } = parseStreamName(event.stream)
    if (category !== 'ledger') return
    const book = this.books.get(id) ?? emptyBook()
    this.books.set(id, book)
    // Only entries are written to the stream of a book.
    const entry = event.data as Entry & { readonly holdId?: string; readonly reverses?: string }
    this.#checkEntry(event, entry)
    this.#move(id, book, entry)
    this.#follow(event, book, entry)
    const held = balance(book, 'merchant.reserved') + balance(book, 'clearing.payout')
    if (held !== book.heldTotal)
      this.#violate('L3', `${id} reserves ${held}, its open holds are ${book.heldTotal}`)
  }

  #checkEntry({ stream, metadata }: StoredEvent, { postings, currency }: Entry): void {
    const sum = postings.reduce((total, { side, amount }) => total + (side === 'debit' ? amount : -amount), 0)
    if (sum !== 0 || postings.length < 2) this.#violate('L1', `an entry of ${stream} does not balance`)
    const areAmounts = postings.every(({ amount }) => Number.isSafeInteger(amount) && amount > 0)
    if (!areAmounts) this.#violate('L1', `an entry of ${stream} has amounts that are none`)
    const book = parseBookId(parseStreamName(stream).id)
    const isOwn = owns(book, metadata)
    const isPlay = postings.some(({ account }) => account === 'sandbox.funding')
    if (!isOwn || book.currency !== currency || (isPlay && book.livemode)) {
      this.#violate('L8', `an entry of ${stream} belongs elsewhere`)
    }
  }

  #move(id: string, book: ShadowBook, { postings }: Entry): void {
    for (const { account, side, amount } of postings) {
      const raises = classOf(account) === 'asset' ? 'debit' : 'credit'
      book.balances.set(account, balance(book, account) + (side === raises ? amount : -amount))
    }
    for (const { account } of postings) {
      const isOverdrawn = balance(book, account) < 0 && !mayGoBelowZero(account as AccountCode)
      if (isOverdrawn) this.#violate('L2', `${account} of ${id} is at ${balance(book, account)}`)
    }
  }

  #follow(
    { type, stream }: StoredEvent,
    book: ShadowBook,
    entry: Entry & { holdId?: string; reverses?: string },
  ): void {
    const { entryId, amounts, holdId = '', reverses } = entry
    if (book.entries.has(entryId)) this.#violate('L5', `entry ${entryId} stands twice in ${stream}`)
    book.entries.set(entryId, `${entry.template} ${entry.subject.id}`)
    if (reverses && book.reversed.has(reverses)) this.#violate('L6', `entry ${reverses} is reversed twice`)
    if (reverses) book.reversed.add(reverses)
    if (type === 'EntryPosted') return
    const hold = book.holds.get(holdId)
    if (type === 'HoldPlaced') {
      if (hold || book.ended.has(holdId)) this.#violate('L4', `hold ${holdId} is placed twice`)
      book.holds.set(holdId, { total: amounts.amount + amounts.fee, state: 'placed' })
      book.heldTotal += amounts.amount + amounts.fee
      return
    }
    if (!hold)
      return this.#violate(
        'L4',
        `${type} of ${holdId}, which is not open (${book.ended.get(holdId) ?? 'never placed'})`,
      )
    if (type === 'HoldAdvanced') {
      if (hold.state === 'advanced') this.#violate('L4', `hold ${holdId} is advanced twice`)
      hold.state = 'advanced'
      return
    }
    book.holds.delete(holdId)
    book.heldTotal -= hold.total
    book.ended.set(holdId, type === 'HoldPosted' ? 'HoldPosted' : 'HoldVoided')
  }
}

export function balance({ balances }: ShadowBook, account: string): number {
  return balances.get(account) ?? 0
}

function emptyBook(): ShadowBook {
  return {
    balances: new Map(),
    holds: new Map(),
    ended: new Map(),
    entries: new Map(),
    reversed: new Set(),
    heldTotal: 0,
  }
}
