import { derivedId } from '../packages/contract/identity.ts'
import { cellOf, revisionParts } from '../packages/domain/balances/days.ts'
import { movementOf, nothing } from '../packages/domain/balances/movement.ts'
import { transactionsOf } from '../packages/domain/balances/transaction.ts'
import { parseBookId } from '../packages/domain/ledger/accounts.ts'
import type { LedgerEvents } from '../packages/domain/ledger/events.ts'
import { projection, type Change, type Columns, type RecordedEvent } from '../packages/kernel/projection.ts'
import { everyEntry, type EntryRecorded } from './every-entry.ts'

const deferred = ['payment.succeeded_deferred', 'order.paid_deferred']

type Handler<Data extends object> = (event: RecordedEvent<Data>) => readonly Change[]

const book: Columns = { merchant: 'text', livemode: 'boolean', currency: 'text' }
const sums: Columns = { available: 'numeric', pending: 'numeric', reserved: 'numeric', entries: 'bigint' }

/**
 * Current balance of each book. `entries` is also the revision up to which its stream is counted, plus one.
 */
export const balances = projection<LedgerEvents>()({
  name: 'balances',
  version: 1,
  columns: { ...book, ...sums },
  key: Object.keys(book),
  indexes: [],
  on: {
    ...everyEntry((event) => [{ add: added(event), key: bookOf(event) }]),
    ...everyNotice((event) => [{ add: { ...nothing, entries: 1 }, key: bookOf(event) }]),
  },
})

/**
 * What was written on one day and counts on another, by template and what the money was for: a balance as of
 * a time and as known at a time is a sum of days and parts of two. One row changes per entry.
 */
export const balanceDays = projection<LedgerEvents>()({
  name: 'balance_days',
  version: 4,
  columns: {
    ...book,
    /** See `cellOf`. */
    cell: 'text',
    template: 'text',
    purpose: 'text',
    ...sums,
    revision_blocks: 'bigint',
    revision_rests: 'bigint',
  },
  key: [...Object.keys(book), 'cell', 'template', 'purpose'],
  indexes: [],
  on: {
    ...everyEntry((event) => {
      const { merchant, livemode, currency } = parseBookId(event.id)
      const { template, subject, effectiveAt } = event.data
      const cell = cellOf(event.metadata.at, effectiveAt)
      const add = Object.assign(added(event), revisionParts(event.revision))
      return [{ add, key: { merchant, livemode, currency, cell, template, purpose: subject.type } }]
    }),
    ...everyNotice((event) => {
      const { at } = event.metadata
      const key = { ...bookOf(event), cell: cellOf(at, at), template: '', purpose: '' }
      return [{ add: { ...nothing, entries: 1, ...revisionParts(event.revision) }, key }]
    }),
  },
})

/** The part of the journal that merchants see. */
export const balanceTransactions = projection<LedgerEvents>()({
  name: 'balance_transactions',
  version: 2,
  columns: {
    id: 'text',
    merchant: 'text',
    livemode: 'boolean',
    position: 'bigint',
    type: 'text',
    status: 'text',
    currency: 'text',
    amount: 'bigint',
    fee: 'bigint',
    net: 'bigint',
    source: 'text',
    source_object: 'text',
    description: 'text',
    available_on: 'timestamptz',
    created_at: 'timestamptz',
  },
  key: ['id'],
  indexes: [
    ['merchant', 'livemode', 'position'],
    ['merchant', 'livemode', 'source'],
  ],
  on: everyEntry((event) => {
    const { pending, template, effectiveAt } = event.data
    const shown = transactionsOf(event.data)
    const { merchant, livemode } = parseBookId(event.id)
    const owned = { merchant, livemode, position: event.position }
    const changes: Change[] = shown.map((row) => ({ put: Object.assign(row, owned) }))
    // Released, or fully refunded before that: nothing of it becomes available any more.
    if (pending && (template === 'payment.available' || pending.left === 0)) {
      const patch = { status: 'available', available_on: effectiveAt }
      const keys = deferred.map((by) => ({ id: derivedId(pending.payment, by) }))
      changes.push(...keys.map((key) => ({ patch, key })))
    }
    return changes
  }),
})

/** What moves nothing, and is an event of its stream like any other. */
function everyNotice(handle: Handler<object>) {
  return { EntryRefused: handle, BookClosed: handle, BookReopened: handle }
}

function bookOf({ id }: RecordedEvent) {
  const { merchant, livemode, currency } = parseBookId(id)
  return { merchant, livemode, currency }
}

function added({ data }: EntryRecorded) {
  const { available, pending, reserved } = movementOf(data)
  return { available, pending, reserved, entries: 1 }
}
