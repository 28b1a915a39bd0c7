import t from 'tap'
import { derivedId } from '../../packages/contract/identity.ts'
import { Refusal } from '../../packages/contract/refusals.ts'
import { book } from '../../packages/domain/ledger/book.ts'
import { ledgerEvents, type LedgerEvents } from '../../packages/domain/ledger/events.ts'
import type { Book } from '../../packages/domain/ledger/state.ts'
import { decide, evolve } from '../../packages/kernel/decider.ts'
import { upcast } from '../../packages/kernel/event-types.ts'
import {
  entriesOf,
  advance,
  after,
  type Command,
  context,
  giveBack,
  holdOf,
  paidByCard,
  payment,
  payout,
  place,
  post,
  refund,
  settle,
  stateAfter,
  toppedUp,
  wave,
} from '../support/ledger/ledger-commands.ts'
import { choices } from '../support/ledger/ledger-choices.ts'
import { Notes, type Event, type Sent } from '../support/ledger/ledger-model.ts'
import { fc } from '../support/properties.ts'
import { fold, frozen, stampOf } from '../support/scenarios.ts'

/** A policy's command, as the event at this position causes it. */
function send(state: Book, command: Command, { position, asOf }: { position?: number; asOf?: number }) {
  const cause = position === undefined ? {} : { cause: { policy: 'payout_money', position } }
  const events = decide(book, command, state, { ...context, ...cause, ...(asOf !== undefined && { asOf }) })
  for (const event of events) evolve(book, state, frozen(event), stampOf(context))
  return events
}

t.test('a repeat decides nothing, however many holds have come and gone since', async (t) => {
  const state = stateAfter(toppedUp(1_000_000))
  const subject = (number: number) => ({ type: 'payout', id: derivedId(payout.id, String(number)) })
  const hold = (number: number) =>
    place(holdOf({ template: 'payout.hold', subject: subject(number), amount: 1 }))
  const ends = (number: number) => (number % 2 === 0 ? settle : giveBack)(subject(number).id)
  const isRefused = (command: Command, asOf?: number) => {
    const changed = new Refusal('resource_must_not_have_changed')
    return t.throws(() => send(state, command, { ...(asOf !== undefined && { asOf }) }), changed)
  }
  for (let number = 0; number < 3_000; number++) {
    t.equal(send(state, hold(number), { asOf: 10 * number }).length, 1)
    send(state, advance(subject(number).id), { position: 10 * number + 1 })
    send(state, ends(number), { position: 10 * number + 2 })
  }
  const before = JSON.stringify(state)
  for (const number of [0, 1, 1_000, 1_970]) {
    isRefused(hold(number), 10 * number)
    isRefused(hold(number))
    t.strictSame(send(state, advance(subject(number).id), { position: 10 * number + 1 }), [])
    t.strictSame(send(state, ends(number), { position: 10 * number + 2 }), [])
    t.strictSame(send(state, { type: 'GiveBackHold', data: { holdId: subject(number).id } }, {}), [])
  }
  for (const number of [1_976, 2_500, 2_999]) {
    t.strictSame(send(state, hold(number), { asOf: 10 * number }), [], 'an end that is remembered')
    t.strictSame(send(state, hold(number), {}), [])
  }
  t.equal(JSON.stringify(state), before)
  t.equal(send(state, hold(3_000), { asOf: 29_999 }).length, 1, 'a new hold, looked for lately')
  isRefused(hold(3_001), 19_000)
})

/** Thousands of other steps, of people and of policies. */
function goOn(state: Book): void {
  for (let number = 0; number < 1_100; number++) {
    const position = 10_000 + 10 * number
    const other = { type: 'payout', id: derivedId(refund.id, String(number)) }
    const notAmong = state.requested
    send(state, post({ template: 'sandbox.topup', subject: other, amount: 1, notAmong }), {})
    const held = place(holdOf({ template: 'payout.hold', subject: other, amount: 1 }))
    send(state, held, { asOf: position })
    send(state, giveBack(other.id), { position: position + 1 })
  }
}

t.test('a repeat of any step decides nothing after thousands of others, or has to look first', async (t) => {
  const seen = new Set<string>()
  const property = fc.property(choices, (sequence) => {
    const notes = new Notes()
    const state = book.initial()
    for (const choice of sequence) {
      const sent = notes.next(choice)
      const events = sent && answer(sent, state)
      // What decided nothing left no trace: its repeat may look like a mistake, and moves nothing either.
      if (!sent || typeof events !== 'object' || events.length === 0) continue
      for (const event of events) evolve(book, state, frozen(event), stampOf(context))
      notes.note(sent, events)
    }
    // A balance at its limit takes no others.
    if ((state.balances['merchant.available'] ?? 0) > 1e15 - 10_000) return
    goOn(state)
    const repeats = notes.sent.filter(({ command }) => command.type !== 'ReleasePayment')
    for (const sent of repeats.toReversed()) {
      const answered = answer(sent, state)
      seen.add(
        `${sent.context.cause ? 'policy' : 'person'} ${typeof answered === 'string' ? answered : 'nothing'}`,
      )
      if (Array.isArray(answered) && answered.length > 0)
        throw new Error(`${JSON.stringify(sent)} is done again`)
    }
  })
  fc.assert(property, { numRuns: 60 })
  t.strictSame([...seen].sort(), [
    'person nothing',
    'person resource_must_not_have_changed',
    'policy nothing',
  ])
})

function answer({ command, context: by }: Sent, state: Book) {
  try {
    return decide(book, command, state, by) as readonly Event[]
  } catch (error) {
    return error instanceof Refusal ? error.reason : String(error)
  }
}

/** Events as the first version stored them. */
const older = {
  payout: {
    template: 'payout.hold',
    holdId: payout.id,
    entryId: derivedId(payout.id, 'payout.hold'),
    subject: payout,
    amounts: { amount: 5_000, fee: 50 },
    postings: [
      { account: 'merchant.available', side: 'debit', amount: 5_050 },
      { account: 'merchant.reserved', side: 'credit', amount: 5_050 },
    ],
    currency: 'XOF',
    effectiveAt: '2026-01-01T12:00:00.000Z',
  },
  refund: {
    template: 'refund.hold',
    holdId: refund.id,
    entryId: derivedId(refund.id, 'refund.hold'),
    subject: refund,
    amounts: { amount: 10_000, fee: 0 },
    postings: [
      { account: 'merchant.pending', side: 'debit', amount: 9_610 },
      { account: 'merchant.available', side: 'debit', amount: 390 },
      { account: 'merchant.reserved', side: 'credit', amount: 10_000 },
    ],
    pending: { payment: payment.id, left: 9_610 },
    currency: 'XOF',
    effectiveAt: '2026-01-01T12:00:00.000Z',
  },
}

for (const [of, stored] of Object.entries(older)) {
  t.test(`a ${of} that was held in the first version goes on`, async (t) => {
    const data = upcast(ledgerEvents.HoldPlaced, 1, stored) as LedgerEvents['HoldPlaced']
    const held = [...after(toppedUp(6_000), paidByCard), { type: 'HoldPlaced', data } as const]
    const before = fold(book, held.slice(0, -1)).balances
    const ends = (command: Command) => entriesOf(command, fold(book, held), context)
    const given = ends(giveBack(stored.holdId))
    t.strictSame(fold(book, [...held, ...given]).balances, before, 'it is given back as it was')
    const paid = ends(settle(stored.holdId)).at(-1)!
    const { amount, fee } = stored.amounts
    t.match(paid.data.postings.slice(of === 'payout' ? 2 : 1), [
      { account: `provider:${wave}`, amount },
      ...(fee > 0 ? [{ account: 'revenue.payout_fees', amount: fee }] : []),
    ])
    t.equal(data.owner, `${of}-${stored.holdId}`)
  })
}
