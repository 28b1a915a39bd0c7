import { refuse } from '../../contract/refusals.ts'
import { CountMinor, Currency, record, Timestamp, Type, type Static } from '../../contract/vocabulary.ts'
import type { Decider } from '../../kernel/decider.ts'
import { sealedFor, stored, type EventsOf } from '../../kernel/event-types.ts'
import { personal } from '../../kernel/personal.ts'

const Count = Type.Integer({ minimum: 0 })
const Signed = Type.Integer()

/** What moved on an account in the month; customers' accounts of one kind are one line. */
const ClosedAccount = record({
  account: Type.String(),
  opening: Signed,
  debits: CountMinor,
  credits: CountMinor,
  closing: Signed,
})

const ClosedFile = record({ name: Type.String(), bytes: Count, sha256: Type.String() })

const ClosedBook = record({
  currency: Currency,
  /** Entries of the book from here on are not in the files. */
  before: Count,
  entries: Count,
  accounts: Type.Array(ClosedAccount),
  files: Type.Array(ClosedFile),
})
export type ClosedBook = Static<typeof ClosedBook>

const closing = {
  timeZone: Type.String(),
  from: Timestamp,
  to: Timestamp,
  books: Type.Array(ClosedBook),
  /** Of the log, when the month was closed. */
  checkpoint: record({ size: Count, root: Type.String() }),
}
export const Closing = record(closing)
export type Closing = Static<typeof Closing>

// Events

export const periodEvents = {
  /** `note` is a signed note about all but the name. The name is that on the files. */
  PeriodClosed: sealedFor(
    (_, id) => `merchant/${id.slice(0, id.indexOf('.'))}`,
    stored(1, record({ ...closing, merchantName: personal(Type.String()), note: Type.String() })),
  ),
  PeriodReopened: stored(1, record({ by: Type.String(), reason: Type.String() })),
}

export type PeriodEvents = EventsOf<typeof periodEvents>

// State

export type Period =
  { readonly status: 'none' } | ({ readonly status: 'closed' | 'reopened' } & PeriodEvents['PeriodClosed'])

// Decisions

export type PeriodCommands = {
  ClosePeriod: PeriodEvents['PeriodClosed']
  ReopenPeriod: { by: string; reason: string }
}

/** `<merchant>.<live|test>.<YYYY-MM>`. */
export function periodId(merchant: string, livemode: boolean, month: string): string {
  return `${merchant}.${livemode ? 'live' : 'test'}.${month}`
}

/** A month of one merchant and environment: closed once its books are, and signed like a checkpoint. */
export const period: Decider<Period, PeriodCommands, PeriodEvents> = {
  category: 'period',
  time: 'real',
  events: periodEvents,
  initial: () => ({ status: 'none' }),

  decide: {
    ClosePeriod(data, { status }) {
      return status === 'closed' ? [] : [{ type: 'PeriodClosed', data }]
    },

    ReopenPeriod(data, { status }) {
      if (status === 'none') refuse('resource_must_exist')
      return status === 'reopened' ? [] : [{ type: 'PeriodReopened', data }]
    },
  },

  evolve: {
    PeriodClosed: (_, data) => ({ ...data, status: 'closed' }),
    PeriodReopened: (state) => (state.status === 'none' ? state : { ...state, status: 'reopened' }),
  },
}
