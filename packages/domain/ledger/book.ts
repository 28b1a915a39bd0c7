import { derivedId } from '../../contract/identity.ts'
import { refuse, type Refusal } from '../../contract/refusals.ts'
import type { Context, Decider } from '../../kernel/decider.ts'
import { merchantAvailable, merchantPending, parseBookId } from './accounts.ts'
import type { BookCommands, PlaceHold, PostEntry } from './commands.ts'
import { ledgerEvents, type Amounts, type Entry, type HoldPart, type LedgerEvents } from './events.ts'
import {
  guardBalances,
  guardFirstEntry,
  guardFirstHold,
  guardFreeAccounts,
  guardSource,
  isRepeated,
  openParts,
  pendingAfter,
  refusalOf,
  refusalOfSize,
  refusalOfYoungMoney,
  stamp,
  type Stamped,
} from './guards.ts'
import { advanced, posted, voided } from './hold-steps.ts'
import { pendingOf, placing, type Hold, type OpenPart } from './holds.ts'
import { amountsOf } from './parts.ts'
import { sum, type Posting } from './postings.ts'
import {
  afterAdvancing,
  afterClosing,
  afterEnding,
  afterEntry,
  afterPlacing,
  afterRefusal,
  balanceOf,
  bookFrom,
  emptyBook,
  endOf,
  isApplied,
  type Book,
} from './state.ts'
import { agingTemplates, entryTemplates, holdTemplates, tellsRemaining } from './templates.ts'

/** Double entry for one merchant, environment and currency: the only place where money moves. */
export const book: Decider<Book, BookCommands, LedgerEvents> = {
  category: 'ledger',
  events: ledgerEvents,
  initial: emptyBook,
  snapshot: { version: 8, every: snapshotEvery, restored: bookFrom },

  decide: {
    PostEntry(command, book, context) {
      const { template, subject, nth = 1, effectiveAt, description, counterparty, notAmong = 0 } = command
      if ('parts' in command) for (const { source } of command.parts) guardSource(source)
      if ('shares' in command) for (const { account } of command.shares) guardSource(account)
      const amounts = amountsIn(command)
      const entryId = derivedId(subject.id, nth === 1 ? template : `${template}.${nth}`)
      const draft = { entryId, subject, amounts, postings: postingsOf(command), effectiveAt }
      const entry = stamp(book, draft, context)
      if (isRepeated(book, entry)) return []
      guardFirstEntry(book, notAmong, context)
      guardFreeAccounts(entry.postings)
      const uncovered = { reason: 'account_must_cover_the_amount', entry } as const
      const refusal =
        refusalOf(book, entry.postings, uncovered) ??
        refusalOfYoungMoney(book, template, { entry, now: context.now }) ??
        refusalOfSize(book, template, entry.postings)
      if (refusal && command.isRefusable && entry.cause) return [refused(command, entry, refusal)]
      if (refusal) throw refusal
      const deferred = sum(entry.postings, 'credit', merchantPending)
      const data = {
        template,
        ...(description !== undefined && { description }),
        ...(counterparty !== undefined && { counterparty }),
        ...(isLater(command, deferred) && { availableAt: command.availableAt }),
        ...remainingAfter(command, book),
        ...(deferred > 0 && pendingAfter(book, subject.id, deferred)),
        ...entry,
      }
      return [{ type: 'EntryPosted', data }]
    },

    ReleasePayment({ payment }, book, context) {
      const { amount, releases } = book.pending[payment] ?? { amount: 0, releases: 0 }
      if (amount === 0) return []
      const template = 'payment.available'
      const entryId = derivedId(payment, releases === 0 ? template : `${template}.${releases + 1}`)
      const subject = { type: 'payment', id: payment }
      const postings = entryTemplates[template]({ amount })
      const entry = stamp(book, { entryId, subject, amounts: { amount, fee: 0 }, postings }, context)
      guardBalances(book, entry.postings)
      return [{ type: 'EntryPosted', data: { template, ...pendingAfter(book, payment, -amount), ...entry } }]
    },

    ReverseEntry({ entry: mistake, description, effectiveAt }, book, context) {
      const { entryId: reverses, subject, amounts, pending } = mistake
      if (book.reversed[reverses]) return []
      if (!isReversible(mistake, context)) throw new Error(`entry ${reverses} is not reversed here`)
      const postings = entryTemplates.reversal(mistake)
      const entryId = derivedId(reverses, 'reversal')
      const entry = stamp(book, { entryId, subject, amounts, postings, effectiveAt }, context)
      const pendingTaken = sum(entry.postings, 'debit', merchantPending)
      const pendingNow = pending ? (book.pending[pending.payment]?.amount ?? 0) : 0
      if (pendingTaken > pendingNow) refuse('account_must_cover_the_amount')
      guardFreeAccounts(entry.postings)
      guardBalances(book, entry.postings, { reason: 'account_must_cover_the_amount', entry })
      const data = {
        template: 'reversal' as const,
        reverses,
        ...(description !== undefined && { description }),
        ...(pending && pendingAfter(book, pending.payment, -pendingTaken)),
        ...entry,
      }
      return [{ type: 'EntryPosted', data }]
    },

    PlaceHold(command, book, context) {
      const { template, subject, owner, payment, description } = command
      const open = book.holds[subject.id]
      if (open) return repeatedHold(open, command)
      if (endOf(book, subject.id) || isApplied(book, context.cause)) return []
      if (!context.cause) guardFirstHold(book, context)
      const { uncovered } = holdTemplates[template]
      const parts = partsOf(command, book)
      const amounts = amountsOf(parts)
      if (!Number.isSafeInteger(amounts.amount + amounts.fee)) refuse(uncovered)
      const entryId = derivedId(subject.id, template)
      const entry = stamp(book, { entryId, subject, amounts, postings: placing(parts) }, context)
      guardBalances(book, entry.postings, { reason: uncovered, entry })
      const data = {
        template,
        holdId: subject.id,
        owner,
        parts,
        ...(payment !== undefined && { payment }),
        ...(description !== undefined && { description }),
        ...(payment !== undefined && pendingOf(parts) > 0 && pendingAfter(book, payment, 0)),
        ...entry,
      }
      return [{ type: 'HoldPlaced', data }]
    },

    AdvanceHold({ holdId, parts: named }, book, context) {
      const open = openParts(book, holdId, { context, ends: ['posted', 'voided'], parts: named })
      const parts = open?.parts.filter(({ state }) => state === 'placed') ?? []
      return open ? proven(book, advanced({ hold: open.hold, parts, book, context })) : []
    },

    PostHold({ holdId, parts: named, rail }, book, context) {
      const open = openParts(book, holdId, { context, ends: ['posted'], parts: named })
      if (!open) return []
      const { hold, parts } = open
      // An operator may be faster than the policy that follows the sending: then both steps are taken at
      // once.
      const ahead = 'advanced' in holdTemplates[hold.template] ? parts.filter(isPlaced) : []
      const sent = ahead.length > 0 ? parts.map((part) => ({ ...part, state: 'advanced' as const })) : parts
      const steps = ahead.length > 0 ? advanced({ hold, parts: ahead, book, context }) : []
      return proven(book, [...steps, ...posted({ hold, parts: sent, book, context }, rail)])
    },

    VoidHold({ holdId, parts: named }, book, context) {
      const open = openParts(book, holdId, { context, ends: ['voided'], parts: named })
      return open ? proven(book, voided({ ...open, book, context })) : []
    },

    GiveBackHold({ holdId }, book, context) {
      const hold = book.holds[holdId]
      return hold ? proven(book, voided({ hold, parts: hold.parts, book, context })) : []
    },

    CloseBook({ before }, { closedBefore }, { now }) {
      if (closedBefore !== undefined && closedBefore >= before) return []
      if (before > now.toISOString()) throw new Error(`${before} is not over`)
      return [{ type: 'BookClosed', data: { before } }]
    },

    ReopenBook({ before }, { closedBefore }) {
      if (closedBefore === undefined || closedBefore <= before) return []
      return [{ type: 'BookReopened', data: { before } }]
    },
  },

  evolve: {
    EntryPosted: afterEntry,
    EntryRefused: afterRefusal,
    HoldPlaced: afterPlacing,
    HoldAdvanced: afterAdvancing,
    HoldPosted: (book, entry) => afterEnding(book, entry, 'posted'),
    HoldVoided: (book, entry) => afterEnding(book, entry, 'voided'),
    BookClosed: afterClosing,
    BookReopened: afterClosing,
  },
}

/** So many entries behind a snapshot are loaded in a fraction of a second. */
const entriesAfterSnapshot = 25_000

/**
 * A snapshot's cost grows with all its contents, loading a book with the events after it: at 100,000
 * accounts, holds or payments, a snapshot every 25,000 entries costs each of them 3 microseconds, and a load
 * stays within a second. A smaller book has a snapshot whenever it has had as many entries as contents.
 */
function snapshotEvery(book: Book): number {
  const { openHolds, accounts, pendingPayments, youngPayments, reversals } = book
  const contents = openHolds + accounts + pendingPayments + youngPayments + reversals
  return Math.max(256, Math.min(contents, entriesAfterSnapshot), Math.ceil(contents / 4))
}

/** Commands that policies send on their own, to this book or another one. */
const finalTemplates: readonly string[] = [
  'reversal',
  'payment.available',
  'transfer.out',
  'transfer.in',
  'transfer.settle',
  'transfer.back',
]

function isLater(
  command: PostEntry,
  deferred: number,
): command is PostEntry & { readonly availableAt: string } {
  if (!('availableAt' in command) || command.availableAt === undefined) return false
  return deferred > 0 || agingTemplates.includes(command.template)
}

function remainingAfter(command: PostEntry, book: Book): Pick<LedgerEvents['EntryPosted'], 'remaining'> {
  if (!tellsRemaining(command.template) || !('from' in command)) return {}
  return { remaining: balanceOf(book, command.from) - command.amount }
}

function amountsIn(command: PostEntry): Amounts {
  if ('parts' in command) return amountsOf(command.parts)
  return { amount: command.amount, fee: 'fee' in command ? command.fee : 0 }
}

function postingsOf(command: PostEntry): Posting[] {
  // Commands are typed by the table, so a template fits its parameters; TypeScript cannot follow that.
  const postings = entryTemplates[command.template] as (given: PostEntry) => Posting[]
  return postings(command)
}

/** A policy learns of it by an event, and parks no book. */
function refused(command: PostEntry, entry: Stamped, { message: reason }: Refusal) {
  const { entryId, subject, amounts, currency, cause } = entry
  const { template, counterparty } = command
  const of = { entryId, subject, template, amounts, currency, ...(counterparty && { counterparty }) }
  return { type: 'EntryRefused', data: { ...of, reason, ...(cause && { cause }) } } as const
}

/** Releases and corrections are final: moving their money again takes a new entry of another kind. */
function isReversible({ template, currency }: LedgerEvents['EntryPosted'], { id }: Context): boolean {
  return !finalTemplates.includes(template) && currency === parseBookId(id).currency
}

/**
 * A repeated request decides nothing. A keyed request interrupted after its hold may be repeated with another
 * amount: until the hold is given back, the key stands for its first use.
 */
function repeatedHold(open: Hold, { template, subject, parts, payment }: PlaceHold): [] {
  const { amount, fee } = amountsOf(parts)
  const { amounts } = open
  const isSame = template === open.template && amounts.amount === amount && amounts.fee === fee
  if (!isSame || open.payment !== payment) {
    refuse('idempotency_key_must_be_for_one_request', {
      detail: `Money is held for ${subject.type} ${subject.id} already`,
    })
  }
  return []
}

/** Domain model 2.3: a refund takes what is pending of its payment before what is available. */
function partsOf({ parts, payment }: PlaceHold, book: Book): HoldPart[] {
  for (const { source } of parts) guardSource(source)
  let pending = payment === undefined ? 0 : (book.pending[payment]?.amount ?? 0)
  if (pending === 0) return [...parts]
  return parts.flatMap((part) => {
    const taken = part.source === merchantAvailable ? Math.min(part.amount, pending) : 0
    pending -= taken
    const fromPending: HoldPart = {
      ...part,
      id: `${part.id} pending`,
      source: merchantPending,
      amount: taken,
      fee: 0,
    }
    const rest: HoldPart = { ...part, amount: part.amount - taken }
    return [fromPending, rest].filter(({ amount, fee }) => amount + fee > 0)
  })
}

function isPlaced({ state }: OpenPart): boolean {
  return state === 'placed'
}

/** The steps of a hold move what it holds, so they are known to be covered. */
function proven<Step extends { readonly data: Entry }>(book: Book, steps: readonly Step[]): readonly Step[] {
  const postings = steps.flatMap(({ data }) => data.postings)
  guardBalances(book, postings)
  return steps
}
