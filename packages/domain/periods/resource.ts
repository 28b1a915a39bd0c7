import {
  CountMinor,
  Currency,
  literals,
  record,
  SignedMinor,
  Timestamp,
  Type,
  type Static,
} from '../../contract/vocabulary.ts'
import { monthPattern } from '../../kernel/time/calendar.ts'
import type { Period } from './period.ts'

const Month = Type.String({
  pattern: monthPattern,
  'x-expected': 'a month, such as 2026-10',
  description: "Of the merchant's time zone",
  examples: ['2020-01'],
})

export const MonthToClose = record({ month: Month })

const MonthAccount = record(
  {
    account: Type.String({ description: 'An account of the book; those of customers are one line a kind' }),
    opening: SignedMinor,
    debits: CountMinor,
    credits: CountMinor,
    closing: SignedMinor,
  },
  { 'x-name': 'ClosedMonthAccount' },
)

const MonthFile = record(
  {
    name: Type.String({ description: 'As `ikw export month` names it' }),
    bytes: Type.Integer({ minimum: 0, description: 'Its length' }),
    sha256: Type.String({ description: 'Its SHA-256 in hexadecimal' }),
  },
  { 'x-name': 'ClosedMonthFile' },
)

const MonthBook = record(
  {
    currency: Currency,
    entries: Type.Integer({ minimum: 0, description: 'Journal entries that count in the month' }),
    accounts: Type.Array(MonthAccount, { description: 'What moved on each account' }),
    files: Type.Array(MonthFile, { description: 'What is exported of it, always with the same bytes' }),
  },
  { 'x-name': 'ClosedMonthBook' },
)

export const ClosedMonthResource = record({
  object: literals('closed_month'),
  livemode: Type.Boolean(),
  month: Month,
  status: literals('closed', 'reopened'),
  time_zone: Type.String({ description: 'Whose days the month has' }),
  from: Timestamp,
  to: { ...Timestamp, description: 'The first moment after it' },
  books: Type.Array(MonthBook, { description: 'Books with entries, one for each currency' }),
  checkpoint: record(
    {
      size: Type.Integer({ minimum: 0, description: 'Events in the log when it was closed' }),
      root: Type.String({ description: 'Root of their tree; base64' }),
    },
    { description: 'What the log had signed by then' },
  ),
  note: Type.String({ description: 'A digest of all this, signed with the key of the log' }),
})

export type ClosedMonthView = Static<typeof ClosedMonthResource>

export interface ShownMonth {
  readonly livemode: boolean
  readonly month: string
}

export function viewClosedMonth(
  { livemode, month }: ShownMonth,
  { status, timeZone, from, to, books, checkpoint, note }: Exclude<Period, { status: 'none' }>,
): ClosedMonthView {
  return {
    object: 'closed_month',
    livemode,
    month,
    status,
    time_zone: timeZone,
    from,
    to,
    books: books.map(({ currency, entries, accounts, files }) => ({
      currency,
      entries,
      accounts: [...accounts],
      files: [...files],
    })),
    checkpoint: { ...checkpoint },
    note,
  }
}
