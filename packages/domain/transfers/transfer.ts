import { begun } from '../../contract/existing.ts'
import { refuse } from '../../contract/refusals.ts'
import {
  AmountMinor,
  Currency,
  nullable,
  record,
  Type,
  Uuid,
  type Static,
} from '../../contract/vocabulary.ts'
import type { Decider } from '../../kernel/decider.ts'
import { stored, type EventsOf } from '../../kernel/event-types.ts'
import { owns, type MerchantOwner } from '../../kernel/owner.ts'
import { Account, isOneOf } from '../ledger/accounts.ts'
import { moves } from '../ledger/templates.ts'

/** Between two books of one currency and environment. Where a policy follows, they stand in the event. */
const Terms = record({
  amount: AmountMinor,
  currency: Currency,
  from: record({ merchant: Uuid, account: Account }),
  to: record({ merchant: Uuid, account: Account }),
  description: nullable(Type.String()),
})
export type TransferTerms = Static<typeof Terms>

// Events

export const transferEvents = {
  TransferRequested: stored(1, Terms),
  /** The paying book does not cover it: nothing has moved. */
  TransferRefused: stored(1, record({ reason: Type.String() })),
  /** The money has left the account that pays, and is in clearing. */
  TransferSent: stored(1, Terms),
  /** The other merchant has it. */
  TransferReceived: stored(1, Terms),
  /** The other book does not take it: it goes back. */
  TransferRejected: stored(1, record({ ...Terms.properties, reason: Type.String() })),
  /** Clearing is at zero, and the money with the other merchant. */
  TransferSettled: stored(1, record({})),
  /** Clearing is at zero, and the money where it was before. */
  TransferReturned: stored(1, record({})),
}

export type TransferEvents = EventsOf<typeof transferEvents>

// State

interface Details extends MerchantOwner, TransferTerms {
  readonly createdAt: string
}

export type Transfer =
  | { readonly status: 'none' }
  | (Details & { readonly status: 'requested' | 'sent' | 'received' | 'settled' })
  | (Details & { readonly status: 'refused' | 'rejected' | 'returned'; readonly reason: string })

type RequestedTransfer = Exclude<Transfer, { status: 'none' }>

// Decisions

export type TransferCommands = {
  /** By the merchant who pays. */
  RequestTransfer: TransferTerms
  RecordOut: object
  RefuseOut: { reason: string }
  RecordIn: object
  RefuseIn: { reason: string }
  RecordSettlement: object
  RecordReturn: object
}

export const transfer: Decider<Transfer, TransferCommands, TransferEvents> = {
  category: 'transfer',
  perOperation: true,
  events: transferEvents,
  initial: () => ({ status: 'none' }),

  decide: {
    RequestTransfer(terms, state, context) {
      if (state.status !== 'none') return repeated(state, terms)
      const { from, to } = terms
      const isOwn = (merchant: string) => owns({ merchant, livemode: context.livemode }, context)
      if (!isOwn(from.merchant) || isOwn(to.merchant))
        throw new Error('who pays asks, and pays somebody else')
      const isMoved =
        isOneOf(from.account, moves['transfer.out'].from) && isOneOf(to.account, moves['transfer.in'].to)
      if (!isMoved) throw new Error(`no transfer moves from ${from.account} to ${to.account}`)
      return [{ type: 'TransferRequested', data: terms }]
    },

    RecordOut(_, state) {
      const transfer = requested(state)
      return transfer.status === 'requested' ? [{ type: 'TransferSent', data: termsOf(transfer) }] : []
    },

    RefuseOut({ reason }, state) {
      return requested(state).status === 'requested' ? [{ type: 'TransferRefused', data: { reason } }] : []
    },

    RecordIn(_, state) {
      const transfer = requested(state)
      return transfer.status === 'sent' ? [{ type: 'TransferReceived', data: termsOf(transfer) }] : []
    },

    RefuseIn({ reason }, state) {
      const transfer = requested(state)
      if (transfer.status !== 'sent') return []
      return [{ type: 'TransferRejected', data: { ...termsOf(transfer), reason } }]
    },

    RecordSettlement(_, state) {
      return requested(state).status === 'received' ? [{ type: 'TransferSettled', data: {} }] : []
    },

    RecordReturn(_, state) {
      return requested(state).status === 'rejected' ? [{ type: 'TransferReturned', data: {} }] : []
    },
  },

  evolve: {
    TransferRequested: (_, terms, { merchant, livemode, at }) => {
      return { ...terms, merchant, livemode, createdAt: at, status: 'requested' }
    },
    TransferRefused: (state, { reason }) => ({ ...begun(state), status: 'refused', reason }),
    TransferSent: (state) => ({ ...begun(state), status: 'sent' }),
    TransferReceived: (state) => ({ ...begun(state), status: 'received' }),
    TransferRejected: (state, { reason }) => ({ ...begun(state), status: 'rejected', reason }),
    TransferSettled: (state) => ({ ...begun(state), status: 'settled' }),
    TransferReturned: (state) => {
      const transfer = begun(state)
      if (transfer.status !== 'rejected') throw new Error(`a transfer that is ${transfer.status} came back`)
      return { ...transfer, status: 'returned' }
    },
  },
}

export function requested(state: Transfer): RequestedTransfer {
  if (state.status === 'none') refuse('resource_must_exist')
  return state
}

function termsOf({ amount, currency, from, to, description }: RequestedTransfer): TransferTerms {
  return { amount, currency, from, to, description }
}

/** The same request decides nothing; another one with its id is refused. */
function repeated(known: RequestedTransfer, asked: TransferTerms): [] {
  if (isSameTransfer(known, asked)) return []
  return refuse('idempotency_key_must_be_for_one_request', { detail: 'This transfer is another one' })
}

/** Whether a request asks for the transfer that is known under its id. Its description may differ. */
export function isSameTransfer(known: RequestedTransfer, asked: TransferTerms): boolean {
  const { amount, currency, from, to, livemode } = known
  const isSame = amount === asked.amount && currency === asked.currency && from.account === asked.from.account
  const isSameBook = owns({ merchant: to.merchant, livemode }, { merchant: asked.to.merchant, livemode })
  return isSame && isSameBook && to.account === asked.to.account
}
