import { classOf, parseBookId } from '../packages/domain/ledger/accounts.ts'
import type { LedgerEvents } from '../packages/domain/ledger/events.ts'
import { projection, type Change } from '../packages/kernel/projection.ts'
import { everyEntry, type EntryRecorded } from './every-entry.ts'

/** One row per posting of each journal entry. Append-only. */
export const journal = projection<LedgerEvents>()({
  name: 'journal',
  version: 2,
  columns: {
    /** Position of the entry's event: the order of the journal. */
    position: 'bigint',
    entry: 'text',
    book: 'text',
    merchant: 'text',
    livemode: 'boolean',
    currency: 'text',
    /** The event's type: what kind of step the entry is. */
    step: 'text',
    template: 'text',
    hold: 'text',
    subject_type: 'text',
    subject: 'text',
    description: 'text',
    reverses: 'text',
    actor: 'text',
    effective_at: 'timestamptz',
    /** When it would have counted if that month had not been closed. */
    belongs_to: 'timestamptz',
    occurred_at: 'timestamptz',
    /**
     * Columns shared by an entry's postings come first: COPY writes them out once. 1 is the first posting.
     */
    line: 'integer',
    account: 'text',
    class: 'text',
    side: 'text',
    amount: 'bigint',
  },
  key: ['position', 'line'],
  indexes: [['subject']],
  monotonic: ['effective_at'],
  appendOnly: true,
  on: everyEntry(lines),
})

/** Written out: half of a rebuild are these rows, and spreading would cost more than the rest. */
function lines(event: EntryRecorded): readonly Change[] {
  const { id: book, position, type: step, data, metadata } = event
  const { entryId: entry, template, subject, postings, description = null, belongsTo = null } = data
  const { merchant, livemode, currency } = parseBookId(book)
  const hold = 'holdId' in data ? data.holdId : null
  const reverses = 'reverses' in data ? (data.reverses ?? null) : null
  return postings.map(({ account, side, amount }, index) => ({
    isNew: true,
    put: {
      position,
      line: index + 1,
      entry,
      book,
      merchant,
      livemode,
      currency,
      step,
      template,
      hold,
      subject_type: subject.type,
      subject: subject.id,
      account,
      class: classOf(account),
      side,
      amount,
      description,
      reverses,
      actor: metadata.actor,
      effective_at: data.effectiveAt,
      belongs_to: belongsTo,
      occurred_at: metadata.at,
    },
  }))
}
