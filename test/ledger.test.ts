import t from 'tap'
import { derivedId } from '../packages/contract/identity.ts'
import { bookId, classOf, parseBookId, provider, type AccountCode } from '../packages/domain/ledger/accounts.ts'
import { book, type BookCommands, type PlaceHold, type PostEntry } from '../packages/domain/ledger/book.ts'
import type { Entry, LedgerEvents } from '../packages/domain/ledger/events.ts'
import { balances } from '../packages/domain/ledger/state.ts'
import { decide, evolve, fold, type Context, type Message } from '../packages/kernel/decider.ts'
import { context as anyContext, scenarios } from './support/scenarios.ts'

const context: Context = { ...anyContext, id: bookId(anyContext.merchant, anyContext.livemode, 'XOF') }
const later = '2026-01-03T12:00:00.000Z'
const wave = 'mobile_money.SN.wave'

const topup = { type: 'topup', id: '0190a1b2-0000-7000-8000-000000000010' }
const payment = { type: 'payment', id: '0190a1b2-0000-7000-8000-000000000011' }
const payout = { type: 'payout', id: '0190a1b2-0000-7000-8000-000000000012' }
const refund = { type: 'refund', id: '0190a1b2-0000-7000-8000-000000000013' }

type Command = Message<BookCommands>
type Event = Message<LedgerEvents>

// Commands

const post = (data: PostEntry): Command => ({ type: 'PostEntry', data })
const place = (data: PlaceHold): Command => ({ type: 'PlaceHold', data })
const toppedUp = (amount: number) => post({ template: 'sandbox.topup', subject: topup, amount })
const paid = post({ template: 'payment.succeeded', subject: payment, rail: wave, amount: 10_000, fee: 200 })
const paidByCard = post({
  template: 'payment.succeeded_deferred', subject: payment, rail: 'card', amount: 10_000, fee: 390, availableAt: later,
})
const payoutAsked = { template: 'payout.hold', subject: payout, amount: 5_000, fee: 50, source: 'merchant.available' } as const
const refundAsked = {
  template: 'refund.hold', subject: refund, amount: 4_000, source: 'merchant.available', payment: payment.id,
} as const
const held = place(payoutAsked)
const refundHeld = place(refundAsked)
const advance = (holdId: string): Command => ({ type: 'AdvanceHold', data: { holdId } })
const settle = (holdId: string): Command => ({ type: 'PostHold', data: { holdId, rail: wave } })
const giveBack = (holdId: string): Command => ({ type: 'VoidHold', data: { holdId } })
const release: Command = { type: 'ReleasePayment', data: { payment: payment.id } }

/** The history that these commands make. */
function after(...commands: readonly Command[]): Event[] {
  const state = book.initial()
  return commands.flatMap((command) => {
    const events = decide(book, command, state, context)
    for (const event of events) evolve(book, state, event)
    return events
  })
}

function stateAfter(...commands: readonly Command[]) {
  return fold(book, after(...commands))
}

/** `['debit provider:card 100', …]`. */
function spelled({ postings }: Entry): string[] {
  return postings.map(({ side, account, amount }) => `${side} ${account} ${amount}`)
}

// Domain model 2.3: what the last of the commands writes

const journal: Record<string, { given: readonly Command[]; writes: Record<string, string[]> }> = {
  'a payment is available at once, and its fee is ours': {
    given: [paid],
    writes: {
      'payment.succeeded': [
        'debit provider:mobile_money.SN.wave 10000', 'credit merchant.available 9800', 'credit revenue.payment_fees 200',
      ],
    },
  },
  'a payment by card is pending first': {
    given: [paidByCard],
    writes: {
      'payment.succeeded_deferred': [
        'debit provider:card 10000', 'credit merchant.pending 9610', 'credit revenue.payment_fees 390',
      ],
    },
  },
  'a payment by card is released': {
    given: [paidByCard, release],
    writes: { 'payment.available': ['debit merchant.pending 9610', 'credit merchant.available 9610'] },
  },
  'a payment by card is released less what refunds took': {
    given: [paidByCard, refundHeld, release],
    writes: { 'payment.available': ['debit merchant.pending 5610', 'credit merchant.available 5610'] },
  },
  'what a failed refund gives back after the release is released too': {
    given: [paidByCard, refundHeld, release, giveBack(refund.id), release],
    writes: { 'payment.available': ['debit merchant.pending 4000', 'credit merchant.available 4000'] },
  },
  'money that arrives after its intent has failed is nobody\'s': {
    given: [post({ template: 'payment.late', subject: payment, rail: wave, amount: 10_000 })],
    writes: { 'payment.late': ['debit provider:mobile_money.SN.wave 10000', 'credit suspense.unmatched 10000'] },
  },
  'late money is refunded': {
    given: [
      post({ template: 'payment.late', subject: payment, rail: wave, amount: 10_000 }),
      post({ template: 'payment.late_refund', subject: payment, rail: wave, amount: 10_000 }),
    ],
    writes: { 'payment.late_refund': ['debit suspense.unmatched 10000', 'credit provider:mobile_money.SN.wave 10000'] },
  },
  'a refund is held from what is available': {
    given: [paid, refundHeld],
    writes: { 'refund.hold': ['debit merchant.available 4000', 'credit merchant.reserved 4000'] },
  },
  'a refund of a pending payment is held from what is pending, and from available what that is short of': {
    given: [toppedUp(1_000), paidByCard, place({ ...refundAsked, amount: 10_000 })],
    writes: {
      'refund.hold': ['debit merchant.pending 9610', 'debit merchant.available 390', 'credit merchant.reserved 10000'],
    },
  },
  'a refund that failed gives back to each source what came from it': {
    given: [toppedUp(1_000), paidByCard, place({ ...refundAsked, amount: 10_000 }), giveBack(refund.id)],
    writes: {
      'refund.fail': ['debit merchant.reserved 10000', 'credit merchant.pending 9610', 'credit merchant.available 390'],
    },
  },
  'a refund is settled': {
    given: [paid, refundHeld, settle(refund.id)],
    writes: { 'refund.settle': ['debit merchant.reserved 4000', 'credit provider:mobile_money.SN.wave 4000'] },
  },
  'a payout is held with its fee': {
    given: [paid, held],
    writes: { 'payout.hold': ['debit merchant.available 5050', 'credit merchant.reserved 5050'] },
  },
  'a payout that was sent is in clearing, its fee is not': {
    given: [paid, held, advance(payout.id)],
    writes: { 'payout.submit': ['debit merchant.reserved 5000', 'credit clearing.payout 5000'] },
  },
  'a payout is settled': {
    given: [paid, held, advance(payout.id), settle(payout.id)],
    writes: {
      'payout.settle': [
        'debit clearing.payout 5000', 'debit merchant.reserved 50',
        'credit provider:mobile_money.SN.wave 5000', 'credit revenue.payout_fees 50',
      ],
    },
  },
  'a payout that is settled before we know that it was sent is sent and settled': {
    given: [paid, held, settle(payout.id)],
    writes: {
      'payout.submit': ['debit merchant.reserved 5000', 'credit clearing.payout 5000'],
      'payout.settle': [
        'debit clearing.payout 5000', 'debit merchant.reserved 50',
        'credit provider:mobile_money.SN.wave 5000', 'credit revenue.payout_fees 50',
      ],
    },
  },
  'a payout that was never sent gives everything back': {
    given: [paid, held, giveBack(payout.id)],
    writes: { 'payout.cancel': ['debit merchant.reserved 5050', 'credit merchant.available 5050'] },
  },
  'a payout that the operator refused gives everything back': {
    given: [paid, held, advance(payout.id), giveBack(payout.id)],
    writes: {
      'payout.fail': ['debit clearing.payout 5000', 'debit merchant.reserved 50', 'credit merchant.available 5050'],
    },
  },
  'a payout without a fee moves no zeros': {
    given: [paid, place({ ...payoutAsked, fee: 0 }), settle(payout.id)],
    writes: {
      'payout.submit': ['debit merchant.reserved 5000', 'credit clearing.payout 5000'],
      'payout.settle': ['debit clearing.payout 5000', 'credit provider:mobile_money.SN.wave 5000'],
    },
  },
  'a payout that came back makes its source whole': {
    given: [
      paid, held, settle(payout.id),
      post({ template: 'payout.return', subject: payout, rail: wave, amount: 5_000, fee: 50, source: 'merchant.available' }),
    ],
    writes: {
      'payout.return': [
        'debit provider:mobile_money.SN.wave 5000', 'debit revenue.payout_fees 50', 'credit merchant.available 5050',
      ],
    },
  },
  'play money is topped up': {
    given: [toppedUp(1_000)],
    writes: { 'sandbox.topup': ['debit sandbox.funding 1000', 'credit merchant.available 1000'] },
  },
  'a correction mirrors the entry': {
    given: [paidByCard, { type: 'ReverseEntry', data: { entry: entryPosted(paidByCard) } }],
    writes: {
      reversal: ['credit provider:card 10000', 'debit merchant.pending 9610', 'debit revenue.payment_fees 390'],
    },
  },
}

for (const [sentence, { given, writes }] of Object.entries(journal)) {
  t.test(sentence, async (t) => {
    const last = after(...given).slice(after(...given.slice(0, -1)).length)
    t.strictSame(Object.fromEntries(last.map(({ data }) => [data.template, spelled(data)])), writes)
  })
}

function entryPosted(command: Command): LedgerEvents['EntryPosted'] {
  const [event] = after(command)
  if (event?.type !== 'EntryPosted') throw new Error('this command posts no entry')
  return event.data
}

// Refusals and repeats

const cause = { policy: 'payment follows intent', position: 70 }
const lateRefund: PostEntry = { template: 'payment.late_refund', subject: payment, rail: wave, amount: 1 }
const mostEver = Number.MAX_SAFE_INTEGER

scenarios(book, {
  'an entry says all that a balance transaction shows': {
    when: post({
      template: 'payment.succeeded_deferred', subject: payment, rail: 'card', amount: 10_000, fee: 390,
      availableAt: later, description: 'Order 17',
    }),
    context: { cause },
    then: [
      {
        type: 'EntryPosted',
        data: {
          entryId: derivedId(payment.id, 'payment.succeeded_deferred'),
          template: 'payment.succeeded_deferred',
          subject: payment,
          description: 'Order 17',
          amounts: { amount: 10_000, fee: 390 },
          postings: [
            { account: 'provider:card', side: 'debit', amount: 10_000 },
            { account: 'merchant.pending', side: 'credit', amount: 9_610 },
            { account: 'revenue.payment_fees', side: 'credit', amount: 390 },
          ],
          currency: 'XOF',
          effectiveAt: '2026-01-01T12:00:00.000Z',
          availableAt: later,
          pending: { payment: payment.id, left: 9_610 },
          cause,
        },
      },
    ],
  },
  'a payout whose amount and fee are just covered is held': {
    given: after(toppedUp(5_050)),
    when: held,
    then: after(toppedUp(5_050), held).slice(1),
  },
  'a payout whose amount is covered but not its fee is refused': {
    given: after(toppedUp(5_049)),
    when: held,
    then: 'balance_must_cover_amount_and_fees',
  },
  'a payout is not paid from what is pending': {
    given: after(paidByCard),
    when: held,
    then: 'balance_must_cover_amount_and_fees',
  },
  'a payout larger than any balance is refused': {
    when: place({ ...payoutAsked, amount: mostEver }),
    then: 'balance_must_cover_amount_and_fees',
  },
  'a refund that pending and available do not cover together is refused': {
    given: after(toppedUp(389), paidByCard),
    when: place({ ...refundAsked, amount: 10_000 }),
    then: 'balance_must_cover_the_refund',
  },
  'a refund does not take the pending money of another payment': {
    given: after(paidByCard),
    when: place({ ...refundAsked, payment: payout.id }),
    then: 'balance_must_cover_the_refund',
  },
  'late money that is not there is not refunded': {
    when: post(lateRefund),
    then: 'account_must_cover_the_amount',
  },
  'a payment whose money is spent is not reversed': {
    given: after(paid, held),
    when: { type: 'ReverseEntry', data: { entry: entryPosted(paid) } },
    then: 'account_must_cover_the_amount',
  },
  'a payment by card that is partly refunded is not reversed': {
    given: after(paidByCard, refundHeld),
    when: { type: 'ReverseEntry', data: { entry: entryPosted(paidByCard) } },
    then: 'account_must_cover_the_amount',
  },
  'a balance that could not be counted exactly is refused': {
    given: after(toppedUp(mostEver)),
    when: post({ template: 'payment.succeeded', subject: payment, rail: wave, amount: 1, fee: 0 }),
    then: 'balance_must_stay_countable',
  },
  'what is reserved could be counted exactly together with what was sent': {
    given: after(toppedUp(mostEver), place({ ...payoutAsked, amount: mostEver, fee: 0 }), advance(payout.id), paid),
    when: refundHeld,
    then: 'balance_must_stay_countable',
  },
  'a release of what is held for a refund decides nothing': {
    given: after(paidByCard, refundHeld, release),
    when: release,
    then: [],
  },
  'a sending that is learned of after the payout was paid decides nothing': {
    given: after(paid, held, settle(payout.id)),
    when: advance(payout.id),
    then: [],
  },
  'a hold that is asked for again after its end decides nothing': {
    given: after(paid, held, settle(payout.id)),
    when: held,
    then: [],
  },
  'an older cause of the same policy was carried out before': {
    given: caused(paid, 70),
    when: post({ template: 'payment.succeeded', subject: refund, rail: wave, amount: 10_000, fee: 0 }),
    context: { cause: { ...cause, position: 69 } },
    then: [],
  },
}, { id: context.id })

/** What a command decides for a policy. */
function caused(command: Command, position: number): readonly Event[] {
  return decide(book, command, book.initial(), { ...context, cause: { ...cause, position } })
}

t.test('the causes of each policy are counted apart', async (t) => {
  const other = { ...context, cause: { policy: 'another', position: 1 } }
  t.equal(decide(book, toppedUp(1), fold(book, caused(paid, 70)), other).length, 1)
})

t.test('a hold that has ended is not part of the state', async (t) => {
  const state = stateAfter(paid, held, advance(payout.id), giveBack(payout.id))
  t.strictSame(state.holds, {})
  t.strictSame(balances(state), { available: 9_800, pending: 0, reserved: 0 })
  t.strictSame(state, JSON.parse(JSON.stringify(state)), 'a snapshot is the same state')
})

// What only a bug can ask for

const bugs: Record<string, { given?: readonly Command[]; when: Command; throws: RegExp; context?: Partial<Context> }> = {
  'a payout that was given back is not settled': {
    given: [paid, held, giveBack(payout.id)], when: settle(payout.id), throws: /was voided/,
  },
  'a settled payout is not given back': { given: [paid, held, settle(payout.id)], when: giveBack(payout.id), throws: /was posted/ },
  'a hold that nobody placed is not ended': { when: settle(payout.id), throws: /not known/ },
  'a refund is never advanced': { given: [paid, refundHeld], when: advance(refund.id), throws: /never advanced/ },
  'a hold does not change its amount': {
    given: [paid, held], when: place({ ...payoutAsked, amount: 4_000 }), throws: /another amount/,
  },
  'an entry does not change its amount': { given: [toppedUp(1)], when: toppedUp(2), throws: /another amount/ },
  'a fee above the amount does not balance': {
    when: post({ template: 'payment.succeeded', subject: payment, rail: wave, amount: 1, fee: 2 }), throws: /positive/,
  },
  'an entry of nothing is none': { when: toppedUp(0), throws: /two postings/ },
  'a broken amount is none': { when: toppedUp(0.5), throws: /safe integers/ },
  'an entry lies in the book of its merchant': { when: toppedUp(1), context: { merchant: payout.id }, throws: /another merchant/ },
  'an entry lies in the book of its environment': { when: toppedUp(1), context: { livemode: true }, throws: /another merchant/ },
  'a live book takes no play money': {
    when: toppedUp(1), context: { livemode: true, id: bookId(context.merchant, true, 'XOF') }, throws: /play money/,
  },
  'a hold is no source of another': {
    given: [paid, held], when: place({ ...refundAsked, source: 'merchant.reserved' }), throws: /no source/,
  },
  'pending money is no source by itself': {
    given: [paidByCard], when: place({ ...payoutAsked, source: 'merchant.pending' }), throws: /no source/,
  },
  'a correction is not corrected': {
    when: { type: 'ReverseEntry', data: { entry: { ...entryPosted(paid), template: 'reversal' } } }, throws: /not reversed/,
  },
  'an entry of another currency is not corrected here': {
    when: { type: 'ReverseEntry', data: { entry: { ...entryPosted(paid), currency: 'XAF' } } }, throws: /not reversed/,
  },
}

for (const [sentence, { given = [], when, throws, context: special }] of Object.entries(bugs)) {
  t.test(sentence, async (t) => {
    t.throws(() => decide(book, when, stateAfter(...given), { ...context, ...special }), { message: throws })
  })
}

t.test('only the last thousand ended holds are remembered for certain', async (t) => {
  const state = stateAfter(toppedUp(1_000_000))
  const id = (number: number) => derivedId(payout.id, String(number))
  for (let number = 0; number < 3_000; number++) {
    const subject = { type: 'payout', id: id(number) }
    for (const command of [place({ ...payoutAsked, subject, amount: 1, fee: 0 }), giveBack(subject.id)]) {
      for (const event of decide(book, command, state, context)) evolve(book, state, event)
    }
  }
  t.strictSame(decide(book, giveBack(id(2_000)), state, context), [], 'the thousandth before')
  t.throws(() => decide(book, giveBack(id(0)), state, context), /not known/)
})

// Names

t.test('the id of a book names merchant, environment and currency', async (t) => {
  const { merchant } = context
  t.equal(bookId(merchant, true, 'XOF'), `${merchant}.live.XOF`)
  t.strictSame(parseBookId(`${merchant}.test.CDF`), { merchant, livemode: false, currency: 'CDF' })
  for (const wrong of [merchant, `${merchant}.prod.XOF`, `${merchant}.live.xof`, `.live.XOF`]) {
    t.throws(() => parseBookId(wrong), /not the id of a ledger book/)
  }
})

t.test('an account code tells its class', async (t) => {
  t.equal(classOf(provider(wave)), 'asset')
  t.equal(classOf('wallet:0190a1b2'), 'liability')
  t.equal(classOf('revenue.payout_fees'), 'revenue')
  t.throws(() => provider(''), /not an account code/)
  t.throws(() => provider('x'.repeat(100)), /not an account code/)
  // What arrives as JSON may be no account at all.
  for (const wrong of ['merchant.available:x', 'provider', 'merchant.owned']) {
    t.throws(() => classOf(wrong as AccountCode), /not an account code/)
  }
})
