import { begun, existing } from '../../contract/existing.ts'
import { derivedId } from '../../contract/identity.ts'
import {
  CountMinor,
  Currency,
  literals,
  nullable,
  record,
  Type,
  type Static,
} from '../../contract/vocabulary.ts'
import type { Decider } from '../../kernel/decider.ts'
import { sealedFor, stored, type EventsOf } from '../../kernel/event-types.ts'
import { personal } from '../../kernel/personal.ts'

/** Questions that people must decide, because no rule does: `ikw cases`. */
export const caseKinds = {
  payout_contradicted: 'The operator says something else about a payout than it said before',
  payout_outcome_unknown: 'Nobody has learned for three days what became of a payout',
  payment_contradicted: 'The provider says something else about a payment than it said before',
  payment_outcome_unknown: 'Nobody has learned whether a canceled intent was paid',
  late_payment_not_refunded: 'The provider keeps what was paid after the end of an intent',
  refund_contradicted: 'The provider says something else about a refund than it said before',
  refund_outcome_unknown: 'Nobody has learned for three days what became of a refund',
} as const satisfies Record<string, string>

export type CaseKind = keyof typeof caseKinds

const Kind = Type.Unsafe<CaseKind>(Type.String())

const Opened = record({
  kind: Kind,
  subject: record({ type: literals('payout', 'payment_intent', 'refund'), id: Type.String() }),
  /** What happened, for people. */
  reason: Type.String(),
  money: nullable(record({ amount: CountMinor, currency: Currency })),
})

// Events

export const caseEvents = {
  CaseOpened: stored(1, Opened),
  CaseResolved: sealedFor((_, id) => `case/${id}`, stored(1, record({ note: personal(Type.String()) }))),
}

export type CaseEvents = EventsOf<typeof caseEvents>

// State

interface Details extends Static<typeof Opened> {
  readonly openedAt: string
}

interface Resolution {
  readonly note: string
  readonly at: string
}

export type SupportCase =
  | { readonly status: 'none' }
  | (Details & { readonly status: 'open' })
  | (Details & { readonly status: 'resolved'; readonly resolution: Resolution })

// Decisions

export type CaseCommands = {
  OpenCase: Static<typeof Opened>
  ResolveCase: { note: string }
}

export const supportCase: Decider<SupportCase, CaseCommands, CaseEvents> = {
  category: 'case',
  events: caseEvents,
  initial: () => ({ status: 'none' }),

  decide: {
    OpenCase(opened, { status }) {
      return status === 'none' ? [{ type: 'CaseOpened', data: opened }] : []
    },

    ResolveCase({ note }, state) {
      return existing(state).status === 'resolved' ? [] : [{ type: 'CaseResolved', data: { note } }]
    },
  },

  evolve: {
    CaseOpened: (_, opened, { at }) => ({ ...opened, openedAt: at, status: 'open' }),
    CaseResolved: (state, { note }, { at }) => {
      return { ...begun(state), status: 'resolved', resolution: { note, at } }
    },
  },
}

/** The same facts open the same case, so that a repeat opens none. */
export function caseIdOf(kind: CaseKind, subject: string, fact = ''): string {
  return derivedId(subject, `case ${kind} ${fact}`.trim())
}
