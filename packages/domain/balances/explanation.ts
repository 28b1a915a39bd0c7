import { publicId } from '../../contract/identity.ts'
import {
  choice,
  CountMinor,
  Currency,
  literals,
  optional,
  record,
  SignedMinor,
  Timestamp,
  Type,
  type Static,
} from '../../contract/vocabulary.ts'
import type { Subject } from '../ledger/events.ts'
import type { Balances } from '../ledger/state.ts'
import { MomentQuery } from './balance.ts'

export interface ExplainedSum {
  readonly template: string
  /** What the money was for. */
  readonly purpose: string
  readonly amount: number
}

export interface ExplainedEntry {
  readonly entryId: string
  readonly template: string
  /** What it adds to the money that is held. */
  readonly amount: number
  readonly effectiveAt: string
  readonly recordedAt: string
  readonly position: number
}

export interface ExplainedHold {
  readonly holdId: string
  readonly subject: Subject
  readonly amount: number
  readonly entries: readonly ExplainedEntry[]
}

export interface ExplainedHolds {
  readonly open: readonly ExplainedHold[]
  /** What stands in the accounts of holds, less what is held for those above. */
  readonly unexplained: number
}

/** What a balance consists of. */
export interface Explanation {
  /** What is shown of the book. */
  readonly shown: Balances
  readonly sums: readonly ExplainedSum[]
  /** What the days of the book differ from what is counted without them: 0 unless something is wrong. */
  readonly unexplained: number
  readonly holds: ExplainedHolds
  /** The first revision of the book that is not in it. */
  readonly through: number
}

const parts = ['available', 'pending', 'reserved'] as const

export const ExplainQuery = record({
  currency: optional(Currency),
  account: optional(choice(...parts)),
  ...MomentQuery,
})

const holdsMax = 100

const Template = Type.String({ description: 'What kind of journal entry: payment.succeeded, payout.hold, …' })

export const ExplanationResource = record({
  object: literals('balance_explanation'),
  livemode: Type.Boolean(),
  account: literals(...parts),
  currency: Currency,
  amount: SignedMinor,
  sums: Type.Array(
    record({
      template: Template,
      purpose: Type.String({ description: 'What the money was for' }),
      amount: SignedMinor,
    }),
    { description: 'What moved it, added up' },
  ),
  unexplained: Type.Integer({
    description: 'What the sums differ from the amount: 0 unless something is wrong',
  }),
  held: SignedMinor,
  holds: Type.Array(
    record({
      id: Type.String({ description: 'Payout, refund or whatever else the money is held for' }),
      type: Type.String(),
      amount: SignedMinor,
      entries: Type.Array(
        record({
          entry_id: Type.String(),
          template: Template,
          amount: SignedMinor,
          effective_at: Timestamp,
          recorded_at: Timestamp,
        }),
        { description: 'Its entries so far, oldest first' },
      ),
    }),
    { description: 'Open holds, oldest first; at most 100 are shown' },
  ),
  holds_count: CountMinor,
  holds_unexplained: Type.Integer({
    description: 'What the open holds differ from what is held: 0 unless something is wrong',
  }),
  as_of: Timestamp,
  known_at: optional(Timestamp),
})

export type ExplanationView = Static<typeof ExplanationResource>

const prefixes: Readonly<Record<string, string>> = { payout: 'po', refund: 're', payment: 'pay' }

export interface Explained {
  readonly livemode: boolean
  readonly currency: string
  readonly account: (typeof parts)[number]
  readonly asOf: string
  readonly knownAt?: string | undefined
}

export function viewExplanation(
  { shown, sums, holds, unexplained }: Explanation,
  { livemode, currency, account, asOf, knownAt }: Explained,
): ExplanationView {
  return {
    object: 'balance_explanation',
    livemode,
    account,
    currency,
    amount: shown[account] + unexplained,
    sums: sums.map((sum) => ({ ...sum })),
    unexplained,
    held: shown.reserved,
    holds: holds.open.slice(0, holdsMax).map(viewHold),
    holds_count: holds.open.length,
    holds_unexplained: holds.unexplained,
    as_of: asOf,
    ...(knownAt !== undefined && { known_at: knownAt }),
  }
}

function viewHold({ subject: { type, id }, amount, entries }: ExplainedHold) {
  const prefix = prefixes[type]
  return {
    id: prefix === undefined ? id : publicId(prefix, id),
    type,
    amount,
    entries: entries.map((entry) => ({
      entry_id: entry.entryId,
      template: entry.template,
      amount: entry.amount,
      effective_at: entry.effectiveAt,
      recorded_at: entry.recordedAt,
    })),
  }
}
