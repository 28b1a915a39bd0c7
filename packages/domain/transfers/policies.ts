import { ownerOf } from '../../kernel/owner.ts'
import { policy, to } from '../../kernel/policy.ts'
import type { RecordedEvent } from '../../kernel/projection.ts'
import { account, betweenBooks, bookId, parseBookId } from '../ledger/accounts.ts'
import { book } from '../ledger/book.ts'
import type { PostEntry } from '../ledger/commands.ts'
import type { LedgerEvents } from '../ledger/events.ts'
import { transfer, type TransferEvents, type TransferTerms } from './transfer.ts'

/**
 * Out of one book into clearing, into the other book, and then out of clearing: for good, or back. Each entry
 * balances in its own book, so what one book gives another stands in both as ours between books.
 */
const paying = policy<TransferEvents>('transfer_paying', {
  TransferRequested: (event) => {
    const { amount, from } = event.data
    return inPaying(event, { template: 'transfer.out', from: from.account, to: clearing(event), amount })
  },
  TransferReceived: (event) => {
    const { amount } = event.data
    return inPaying(event, { template: 'transfer.settle', from: clearing(event), to: betweenBooks, amount })
  },
  TransferRejected: (event) => {
    const { amount, from } = event.data
    return inPaying(event, { template: 'transfer.back', from: clearing(event), to: from.account, amount })
  },
})

const receiving = policy<Pick<TransferEvents, 'TransferSent'>>(
  'transfer_receiving',
  {
    TransferSent: (event) => {
      const { amount, to: receiver } = event.data
      const { paying: counterparty, receiving: target } = booksOf(event)
      const moved = { template: 'transfer.in', from: betweenBooks, to: receiver.account, amount } as const
      return [to(book, target, postEntry(event, { ...moved, counterparty }))]
    },
  },
  ({ data, metadata }) => ({ merchant: data.to.merchant, livemode: metadata.livemode }),
)

/** What the transfer learns of an entry. It belongs to who pays: the receiving book names the paying one. */
const answering = policy<Pick<LedgerEvents, 'EntryPosted' | 'EntryRefused'>>(
  'transfer_answers',
  {
    EntryPosted: ({ data: { template, subject } }) => {
      const type = recordedBy[template]
      return type ? [to(transfer, subject.id, { type, data: {} })] : []
    },
    EntryRefused: ({ data: { template, subject, reason } }) => {
      const type = refusedBy[template]
      return type ? [to(transfer, subject.id, { type, data: { reason } })] : []
    },
  },
  ({ data: { template, counterparty }, metadata }) => {
    return ownerOf(template === 'transfer.in' && counterparty ? parseBookId(counterparty) : metadata)
  },
)

export const transferPolicies = [paying, receiving, answering]

type Recording = 'RecordOut' | 'RecordIn' | 'RecordSettlement' | 'RecordReturn'
const recordedBy: Readonly<Record<string, Recording | undefined>> = {
  'transfer.out': 'RecordOut',
  'transfer.in': 'RecordIn',
  'transfer.settle': 'RecordSettlement',
  'transfer.back': 'RecordReturn',
}

const refusedBy: Readonly<Record<string, 'RefuseOut' | 'RefuseIn' | undefined>> = {
  'transfer.out': 'RefuseOut',
  'transfer.in': 'RefuseIn',
}

type Moved = Extract<PostEntry, { readonly template: 'transfer.out' }>
type Moving = Pick<Moved, 'from' | 'to' | 'amount'> & {
  readonly template: 'transfer.out' | 'transfer.in' | 'transfer.settle' | 'transfer.back'
}

function inPaying(event: RecordedEvent<TransferTerms>, moving: Moving) {
  const { paying: target, receiving: counterparty } = booksOf(event)
  return [to(book, target, postEntry(event, { ...moving, counterparty }))]
}

function postEntry(
  { id, data: { description } }: RecordedEvent<TransferTerms>,
  moving: Moving & Pick<PostEntry, 'counterparty'>,
) {
  const told = { subject: { type: 'transfer', id }, ...(description !== null && { description }) }
  // What has left one book must arrive somewhere, so only its ways out and in can be refused.
  const isRefusable = moving.template in refusedBy ? ({ isRefusable: true } as const) : {}
  return { type: 'PostEntry', data: { ...moving, ...told, ...isRefusable } } as const
}

function booksOf({ data, metadata }: RecordedEvent<TransferTerms>) {
  const { from, to: receiver, currency } = data
  return {
    paying: bookId(from.merchant, metadata.livemode, currency),
    receiving: bookId(receiver.merchant, metadata.livemode, currency),
  }
}

function clearing({ id }: RecordedEvent) {
  return account('transfer.clearing', id)
}
