import { movementTypes } from '../packages/domain/wallets/resource.ts'
import { walletTopup } from '../packages/domain/wallets/topup.ts'
import { isOneOf, parseBookId } from '../packages/domain/ledger/accounts.ts'
import type { Entry, LedgerEvents } from '../packages/domain/ledger/events.ts'
import { effect } from '../packages/domain/ledger/postings.ts'
import { documents, projection, type Change, type Columns } from '../packages/kernel/projection.ts'
import { everyEntry, type EntryRecorded } from './every-entry.ts'

const whose: Columns = { merchant: 'text', livemode: 'boolean', customer: 'text', currency: 'text' }

export const walletTopups = documents(walletTopup, {
  name: 'wallet_topups',
  version: 1,
  columns: { customer: 'text' },
})

/** What is in each customer's wallet. */
export const walletBalances = projection<LedgerEvents>()({
  name: 'wallet_balances',
  version: 1,
  columns: { ...whose, amount: 'numeric' },
  key: Object.keys(whose),
  indexes: [],
  on: everyMovement((event, moved) => ({ add: { amount: moved.amount }, key: ownerOf(event, moved) })),
})

/** What went into wallets and out of them. */
export const walletMovements = projection<LedgerEvents>()({
  name: 'wallet_movements',
  version: 1,
  columns: {
    ...whose,
    position: 'bigint',
    id: 'text',
    direction: 'text',
    type: 'text',
    amount: 'bigint',
    reference_object: 'text',
    reference: 'text',
    /** The payment that it has put in, or gives back. */
    payment: 'text',
    /** Before then, what was paid by card is not spent. */
    available_at: 'timestamptz',
    occurred_at: 'timestamptz',
  },
  key: ['position', 'customer'],
  indexes: [['merchant', 'livemode', 'customer', 'position']],
  on: everyMovement((event, moved) => {
    const { position, data, metadata } = event
    const { entryId: id, subject } = data
    const types: Readonly<Record<string, string>> = movementTypes
    return {
      isNew: true,
      put: {
        ...ownerOf(event, moved),
        position,
        id,
        direction: moved.amount > 0 ? 'credit' : 'debit',
        type: types[subject.type] ?? 'adjustment',
        amount: Math.abs(moved.amount),
        reference_object: subject.type,
        reference: subject.id,
        payment: subject.type === 'payment' ? subject.id : ('payment' in data && data.payment) || null,
        available_at: ('availableAt' in data && data.availableAt) || null,
        occurred_at: metadata.at,
      },
    }
  }),
})

interface Moved {
  readonly customer: string
  readonly amount: number
}

function everyMovement(change: (event: EntryRecorded, moved: Moved) => Change) {
  return everyEntry((event) => movedIn(event.data).map((moved) => change(event, moved)))
}

/** Most entries are about no wallet. */
function movedIn({ postings }: Entry): readonly Moved[] {
  return postings
    .filter(({ account }) => isOneOf(account, ['wallet']))
    .map((posting) => ({
      customer: posting.account.slice('wallet:'.length),
      amount: effect(posting),
    }))
}

function ownerOf({ id }: EntryRecorded, { customer }: Moved) {
  const { merchant, livemode, currency } = parseBookId(id)
  return { merchant, livemode, customer, currency }
}
