import { isDeepStrictEqual } from 'node:util'
import { noStream, type EventStore, type StoredEvent } from '../../packages/kernel/ports.ts'
import type { AnyDecider } from '../../packages/kernel/decider.ts'
import { ownerOf, ownerText, owns, type Owner } from '../../packages/kernel/owner.ts'
import type { RecordedEvent } from '../../packages/kernel/projection.ts'
import { BookAudit } from './book-audit.ts'
import { closedType, ClosedMonths } from './closed-months.ts'
import type { EntryData } from './entry-data.ts'
import { EffectsAudit } from './effects.ts'
import { IdTable } from './id-table.ts'
import { LogFold, type Fold } from './log-fold.ts'
import { Violations, type Counts, type Violation } from './violations.ts'

type Log = Pick<EventStore, 'readOn' | 'head' | 'irregularities'>

/** Files have no streams: all that are asked for are found in one pass. */
interface Files {
  readonly eventsOf: (streams: ReadonlySet<string>) => AsyncIterable<readonly StoredEvent[]>
}

export interface VerifyOptions {
  readonly store: Log & (Files | Pick<EventStore, 'readStream'>)
  readonly deciders: readonly AnyDecider[]
  /** Up to here policies have done their work: read before the log is. */
  readonly policiesThrough: number
  readonly now: Date
  readonly onProgress: (done: number, of: number) => void
}

export interface Verified {
  readonly position: number
  readonly events: number
  readonly streams: number
  readonly entries: number
  readonly books: number
  readonly openHolds: number
  /** Entries that policies have still to make. */
  readonly pending: number
  readonly violations: readonly Violation[]
  /** Of each rule that is broken, also those that are not named. */
  readonly counts: Counts
}

const ledger = 'ledger'

/**
 * Counts the whole log again, without the ledger's code. Its size in memory is that of what is under way, and
 * an id for each entry, hold and payout there ever was.
 */
export async function verifyLog(options: VerifyOptions): Promise<Verified> {
  const { store, deciders, policiesThrough, now, onProgress } = options
  const position = await store.head()
  const audit = new LogAudit()
  const fold: Fold = {
    follows: () => true,
    apply: (event) => audit.apply(event),
    position: 0,
    through: position,
    parked: new Map(),
    faults: new Map(),
  }
  await new LogFold(store, deciders, (read) => onProgress(read, position)).run([fold])
  for (const [stream, fault] of fold.faults)
    audit.violations.note('log', `${stream} cannot be read: ${fault}`)
  for (const { stream, problem } of await store.irregularities())
    audit.violations.note('log', `${stream} ${problem}`)
  const pending = audit.effects.end(policiesThrough)
  for (const book of audit.books.values()) book.checkPassing(now)
  await lookAgain(store, audit)
  return { position, pending, ...audit.counted() }
}

/** Months of a book that are closed, or opened again. */
function isBoundary(event: RecordedEvent): event is RecordedEvent<{ before: string }> {
  return event.type === 'BookClosed' || event.type === 'BookReopened'
}

class LogAudit {
  readonly violations = new Violations()
  readonly effects = new EffectsAudit(this.violations.note)
  readonly books = new Map<string, BookAudit>()
  readonly months = new ClosedMonths(this.violations.note)
  readonly #streams = new Streams()
  #events = 0
  #entries = 0

  apply(event: RecordedEvent): void {
    this.#events++
    this.#checkStream(event)
    if (event.type === closedType) this.months.closed(event)
    if (event.category !== ledger) return this.effects.event(event)
    let book = this.books.get(event.id)
    if (!book) this.books.set(event.id, (book = new BookAudit(event.id, this.violations.note)))
    if (isBoundary(event)) return book.moveBoundary(event.data.before)
    if (event.type === 'EntryRefused') return this.effects.refused(event as RecordedEvent<EntryData>)
    // That an entry has this shape is a part of what is checked, by using it.
    const entry = event as RecordedEvent<EntryData>
    this.#entries++
    this.effects.entry(entry)
    book.apply(entry)
  }

  #checkStream(event: RecordedEvent): void {
    const { stream, revision, position, metadata } = event
    const known = this.#streams.last(event)
    const expected = (known?.revision ?? noStream) + 1
    if (revision !== expected) {
      this.violations.note('log', `${stream} goes on with revision ${revision}, not ${expected}`)
    }
    if (known && !owns(known.owner, metadata)) {
      this.violations.note('log', `${stream} changes its owner at position ${position}`)
    }
    this.#streams.note(event)
  }

  counted() {
    const openHolds = [...this.books.values()].reduce((sum, book) => sum + book.openHolds, 0)
    return {
      events: this.#events,
      streams: this.#streams.size,
      entries: this.#entries,
      books: this.books.size,
      openHolds,
      violations: this.violations.found,
      counts: this.violations.counts,
    }
  }
}

/** Where each stream has come to, and whose it is. */
class Streams {
  readonly #ids = new Map<string, IdTable>()
  readonly #revisions = new Map<string, number[]>()
  readonly #owners = new Map<string, Owner[]>()
  /** Each owner once, however many streams it has. */
  readonly #known = new Map<string, Owner>()

  get size(): number {
    return [...this.#ids.values()].reduce((sum, { size }) => sum + size, 0)
  }

  last({ category, id }: RecordedEvent): { readonly revision: number; readonly owner: Owner } | undefined {
    const number = this.#ids.get(category)?.numberOf(id)
    if (number === undefined) return undefined
    return { revision: this.#revisions.get(category)![number]!, owner: this.#owners.get(category)![number]! }
  }

  note({ category, id, revision, metadata }: RecordedEvent): void {
    if (!this.#ids.has(category)) {
      this.#ids.set(category, new IdTable())
      this.#revisions.set(category, [])
      this.#owners.set(category, [])
    }
    const number = this.#ids.get(category)!.add(id)
    this.#revisions.get(category)![number] = revision
    this.#owners.get(category)![number] = this.#ownerIn(metadata)
  }

  #ownerIn(metadata: Owner): Owner {
    const name = ownerText(metadata)
    const known = this.#known.get(name) ?? ownerOf(metadata)
    this.#known.set(name, known)
    return known
  }
}

/** Corrections and closed months are few, so books are looked at once more only where there are some. */
async function lookAgain(store: VerifyOptions['store'], { books, months, violations }: LogAudit) {
  const corrected = [...books].filter(([, { corrections }]) => corrections.length > 0)
  const wanted = new Map(
    corrected.map(([id, { corrections }]) => [
      `${ledger}-${id}`,
      new Map(corrections.map(({ entry }) => [entry.reverses, entry])),
    ]),
  )
  const streams = new Set([...wanted.keys(), ...months.streams])
  if (streams.size > 0)
    for await (const events of eventsOf(store, streams))
      for (const { stream, revision, data } of events) {
        try {
          const entry = data as EntryData
          // What closes a book is no entry.
          if (entry.entryId === undefined) continue
          const correction = wanted.get(stream)?.get(entry.entryId)
          months.add(stream, revision, entry)
          checkMirrored(stream, { original: entry, correction }, violations)
        } catch (error) {
          // Whoever changes an event may leave anything in it.
          violations.note('log', `${stream} at ${revision} is no entry: ${(error as Error).message}`)
        }
      }
  months.end()
}

/** L6. */
function checkMirrored(stream: string, { original, correction }: Mirrored, { note }: Violations): void {
  if (!correction || isDeepStrictEqual(sides(original, false), sides(correction, true))) return
  const id = stream.slice(ledger.length + 1)
  note('L6', `entry ${correction.entryId} of ${id} does not mirror ${original.entryId}`)
}

interface Mirrored {
  readonly original: EntryData
  readonly correction: EntryData | undefined
}

const eventsPerRead = 1_000

async function* eventsOf(
  store: VerifyOptions['store'],
  streams: ReadonlySet<string>,
): AsyncGenerator<readonly StoredEvent[], void> {
  if ('eventsOf' in store) return yield* store.eventsOf(streams)
  for (const stream of streams) {
    for (let from = 0; ;) {
      const events = await store.readStream(stream, from, eventsPerRead)
      if (events.length === 0) break
      yield events
      from += events.length
    }
  }
}

/** Postings as text in an order of their own, with debits and credits exchanged if asked. */
function sides({ postings }: EntryData, mirrored: boolean): readonly string[] {
  const flag = (side: string) => (side === 'debit') !== mirrored
  return postings
    .map(({ account, side, amount }) => `${account} ${flag(side) ? 'debit' : 'credit'} ${amount}`)
    .toSorted()
}
