import t from 'tap'
import { derivedId } from '../../packages/contract/identity.ts'
import { bookId } from '../../packages/domain/ledger/accounts.ts'
import { book } from '../../packages/domain/ledger/book.ts'
import type { PostEntry } from '../../packages/domain/ledger/commands.ts'
import { balances } from '../../packages/domain/ledger/state.ts'
import { decide, type Context } from '../../packages/kernel/decider.ts'
import {
  entriesOf,
  advance,
  after,
  type Command,
  context,
  entryPosted,
  type Event,
  giveBack,
  held,
  later,
  paid,
  paidByCard,
  payment,
  payout,
  payoutOf,
  holdOf,
  place,
  post,
  refund,
  refundHeld,
  refundOf,
  release,
  settle,
  stateAfter,
  toppedUp,
  topup,
  wave,
} from '../support/ledger/ledger-commands.ts'
import { fold, scenarios } from '../support/scenarios.ts'

// Refusals and repeats

const cause = { policy: 'payment follows intent', position: 70 }
const lateRefund: PostEntry = { template: 'payment.late_refund', subject: payment, rail: wave, amount: 1 }
const mostEver = Number.MAX_SAFE_INTEGER
const another = { type: 'payment', id: topup.id }
const paidMostEver = post({
  template: 'payment.succeeded',
  subject: another,
  rail: 'card',
  amount: mostEver,
  fee: 0,
})
const clearing = `transfer.clearing:${refund.id}` as const
const back = { template: 'transfer.back', subject: refund, from: clearing, to: 'merchant.available' } as const
const [amount, from] = [1e15, 'merchant.available'] as const
const sentAway = post({ template: 'transfer.out', subject: refund, from, to: clearing, amount })
const mostEverHeld = place(payoutOf(mostEver))

scenarios(
  book,
  {
    'a hold that is open is not placed again for another amount': {
      given: after(paid, held),
      when: place(payoutOf(4_000, 50)),
      then: 'idempotency_key_must_be_for_one_request',
    },
    'an entry says all that a balance transaction shows': {
      when: post({
        template: 'payment.succeeded_deferred',
        subject: payment,
        rail: 'card',
        amount: 10_000,
        fee: 390,
        availableAt: later,
        description: 'Order 17',
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
      when: place(payoutOf(mostEver, 50)),
      then: 'balance_must_cover_amount_and_fees',
    },
    'a refund that pending and available do not cover together is refused': {
      given: after(toppedUp(389), paidByCard),
      when: place(refundOf(10_000)),
      then: 'balance_must_cover_the_refund',
    },
    'a refund does not take the pending money of another payment': {
      given: after(paidByCard),
      when: place(refundOf(4_000, payout.id)),
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
      given: after(paidMostEver),
      when: post({ template: 'payment.succeeded', subject: payment, rail: wave, amount: 1, fee: 0 }),
      then: 'balance_must_stay_countable',
    },
    'play money leaves room for what payers pay': {
      given: after(toppedUp(1e15)),
      when: post({ template: 'sandbox.topup', subject: refund, amount: 1 }),
      then: 'balance_must_stay_countable',
    },
    'a transfer leaves room for what payers pay, and for what comes back': {
      given: after(toppedUp(1e15), sentAway),
      when: post({ ...back, template: 'transfer.in', from: 'provider:internal', amount: amount + 1 }),
      then: 'balance_must_stay_countable',
    },
    'what is reserved could be counted exactly together with what was sent': {
      given: after(paidMostEver, mostEverHeld, advance(payout.id), paid),
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
  },
  { id: context.id },
)

/** What a command decides for a policy. */
function caused(command: Command, position: number): readonly Event[] {
  return entriesOf(command, book.initial(), { ...context, cause: { ...cause, position } })
}

t.test('the causes of each policy are counted apart', async (t) => {
  const other = { ...context, cause: { policy: 'another', position: 1 } }
  t.equal(decide(book, toppedUp(1), fold(book, caused(paid, 70)), other).length, 1)
})

t.test('a hold that has ended is not part of the state', async (t) => {
  const state = stateAfter(paid, held, advance(payout.id), giveBack(payout.id))
  t.strictSame(state.holds, {})
  t.strictSame(balances(state), { available: 9_800, pending: 0, reserved: 0 })
})

// What only a bug can ask for

interface Bug {
  readonly given?: readonly Command[]
  readonly when: Command
  readonly throws: RegExp
  readonly context?: Partial<Context>
}

const bugs: Record<string, Bug> = {
  'a payout that was given back is not settled': {
    given: [paid, held, giveBack(payout.id)],
    when: settle(payout.id),
    throws: /was voided/,
  },
  'a settled payout is not given back': {
    given: [paid, held, settle(payout.id)],
    when: giveBack(payout.id),
    throws: /was posted/,
  },
  'a hold that nobody placed is not ended': {
    when: settle(payout.id),
    throws: /not known/,
  },
  'a refund is never advanced': {
    given: [paid, refundHeld],
    when: advance(refund.id),
    throws: /never advanced/,
  },
  'an entry does not change its amount': {
    given: [toppedUp(1)],
    when: toppedUp(2),
    throws: /another amount/,
  },
  'a fee above the amount does not balance': {
    when: post({ template: 'payment.succeeded', subject: payment, rail: wave, amount: 1, fee: 2 }),
    throws: /positive/,
  },
  'an entry of nothing is none': {
    when: toppedUp(0),
    throws: /two postings/,
  },
  'a broken amount is none': {
    when: toppedUp(0.5),
    throws: /safe integers/,
  },
  'an entry lies in the book of its merchant': {
    when: toppedUp(1),
    context: { merchant: payout.id },
    throws: /another merchant/,
  },
  'an entry lies in the book of its environment': {
    when: toppedUp(1),
    context: { livemode: true },
    throws: /another merchant/,
  },
  'a live book takes no play money': {
    when: toppedUp(1),
    context: { livemode: true, id: bookId(context.merchant, true, 'XOF') },
    throws: /play money/,
  },
  'a hold is no source of another': {
    given: [paid, held],
    when: place(holdOf({ template: 'refund.hold', subject: refund, amount: 1, source: 'merchant.reserved' })),
    throws: /no source/,
  },
  'pending money is no source by itself': {
    given: [paidByCard],
    when: place(holdOf({ template: 'payout.hold', subject: payout, amount: 1, source: 'merchant.pending' })),
    throws: /no source/,
  },
  'a correction is not corrected': {
    when: { type: 'ReverseEntry', data: { entry: { ...entryPosted(paid), template: 'reversal' } } },
    throws: /not reversed/,
  },
  'an entry of another currency is not corrected here': {
    when: { type: 'ReverseEntry', data: { entry: { ...entryPosted(paid), currency: 'XAF' } } },
    throws: /not reversed/,
  },
}

for (const [sentence, { given = [], when, throws, context: special }] of Object.entries(bugs)) {
  t.test(sentence, async (t) => {
    t.throws(() => decide(book, when, stateAfter(...given), { ...context, ...special }), { message: throws })
  })
}

t.test('a payment whose fee eats it has nothing to release later', async (t) => {
  const [entry] = after(post({ ...paidByCard.data, amount: 12, fee: 12 } as PostEntry))
  t.notOk(entry!.data.pending)
  t.notOk('availableAt' in entry!.data)
})
