import { Currency, nullable, record, Timestamp, Type, Uuid, type Static } from '../../contract/vocabulary.ts'
import type { Decider } from '../../kernel/decider.ts'
import { stored, type EventsOf } from '../../kernel/event-types.ts'
import type { PlatformOwner } from '../../kernel/owner.ts'

/** How a line of an operator's statement and our entries compare. */
export const findingKinds = [
  /** Same reference or, without one, same amount and time: amount and day agree, and the fee is as agreed. */
  'matched',
  'differs_in_amount',
  'differs_in_fee',
  'differs_in_day',
  /** The operator tells the same twice. */
  'double',
  'only_there',
  'only_here',
  /** Ours, found on an earlier statement. */
  'settled_before',
] as const
export type FindingKind = (typeof findingKinds)[number]

const Count = Type.Integer({ minimum: 0 })
/** In minor units; negative where money left the account. */
const Signed = Type.Integer()

const StatementLine = record({
  /** 1 is the first behind the header. */
  number: Count,
  reference: Type.String(),
  amount: Signed,
  /** What the operator took for it. */
  fee: Signed,
  at: Timestamp,
})
export type StatementLine = Static<typeof StatementLine>

const OwnMovement = record({
  entryId: Uuid,
  book: Type.String(),
  position: Count,
  /** By which the operator knows it. */
  reference: Type.String(),
  amount: Signed,
  effectiveAt: Timestamp,
  /** Whether it counts in the time of the statement. */
  isWithin: Type.Boolean(),
})
export type OwnMovement = Static<typeof OwnMovement>

const Finding = record({
  kind: Type.Unsafe<FindingKind>(Type.String()),
  line: nullable(StatementLine),
  own: nullable(OwnMovement),
})
export type Finding = Static<typeof Finding>

const about = {
  rail: Type.String(),
  environment: Type.String(),
  currency: Currency,
  /** SHA-256 of the file: it is imported once. */
  digest: Type.String(),
  from: Timestamp,
  to: Timestamp,
  /** What stood in the log up to here was compared. */
  through: Count,
}

// Events

export const statementEvents = {
  StatementImported: stored(
    2,
    record({
      ...about,
      lines: Count,
      /** SHA-256 of what was understood of the file; null where nobody has kept it. */
      reading: nullable(Type.String()),
    }),
    { 1: (older) => ({ ...older, reading: null }) },
  ),
  StatementLineCompared: stored(1, Finding),
  /** Sums in minor units: the drift is what the operator says less what the books say. */
  StatementReconciled: stored(
    1,
    record({
      counts: Type.Record(Type.String(), Count),
      theirs: Signed,
      ours: Signed,
      drift: Signed,
      explained: Type.Record(Type.String(), Signed),
      unexplained: Signed,
    }),
  ),
}

export type StatementEvents = EventsOf<typeof statementEvents>
export type Reconciled = StatementEvents['StatementReconciled']

// State

export interface Statement {
  readonly status: 'none' | 'importing' | 'reconciled'
  readonly imported: StatementEvents['StatementImported'] | null
  /** How many findings are written down. */
  readonly findings: number
  readonly result: Reconciled | null
}

// Decisions

export type StatementCommands = {
  ImportStatement: StatementEvents['StatementImported']
  /** `from`: how many findings stand before these. */
  CompareLines: { readonly from: number; readonly findings: readonly Finding[] }
  EndReconciliation: Reconciled
}

/** An operator's statement, compared with our account at it line by line. Repeats decide nothing. */
export const statement: Decider<Statement, StatementCommands, StatementEvents, PlatformOwner> = {
  category: 'statement',
  owners: ['platform'],
  time: 'real',
  events: statementEvents,
  initial: () => ({ status: 'none', imported: null, findings: 0, result: null }),
  snapshot: { version: 2, every: () => 10_000 },

  decide: {
    ImportStatement(data, { status }) {
      return status === 'none' ? [{ type: 'StatementImported', data }] : []
    },

    CompareLines({ from, findings }, { status, findings: known }) {
      if (status !== 'importing') return []
      const news = findings.slice(Math.max(0, known - from))
      return news.map((data) => ({ type: 'StatementLineCompared', data }))
    },

    EndReconciliation(data, { status }) {
      return status === 'importing' ? [{ type: 'StatementReconciled', data }] : []
    },
  },

  evolve: {
    StatementImported: (state, imported) => ({ ...state, status: 'importing', imported }),
    StatementLineCompared: (state) => ({ ...state, findings: state.findings + 1 }),
    StatementReconciled: (state, result) => ({ ...state, status: 'reconciled', result }),
  },
}
