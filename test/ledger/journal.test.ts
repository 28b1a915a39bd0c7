import t from 'tap'
import type { Entry } from '../../packages/domain/ledger/events.ts'
import {
  advance,
  after,
  type Command,
  entryPosted,
  giveBack,
  held,
  paid,
  paidByCard,
  payment,
  payout,
  payoutAsked,
  payoutOf,
  place,
  post,
  refund,
  refundHeld,
  refundOf,
  release,
  settle,
  toppedUp,
  wave,
} from '../support/ledger/ledger-commands.ts'

// Domain model 2.3: what the last of the commands writes

const contract = 'escrow.held:bridge'
const funded = post({
  template: 'escrow.fund',
  subject: payment,
  rail: wave,
  amount: 10_000,
  fee: 0,
  credits: [{ account: contract, amount: 10_000 }],
})
const [main] = payoutAsked.parts
const productFee = {
  id: 'product fee',
  source: contract,
  amount: 0,
  fee: 100,
  feeAccount: 'revenue.escrow_fees',
  rail: null,
} as const
const released = { ...payoutAsked, parts: [{ ...main!, source: contract }, productFee] } as const

const journal: Record<string, { given: readonly Command[]; writes: Record<string, string[]> }> = {
  'a payment is available at once, and its fee is ours': {
    given: [paid],
    writes: {
      'payment.succeeded': [
        'debit provider:mobile_money.SN.wave 10000',
        'credit merchant.available 9800',
        'credit revenue.payment_fees 200',
      ],
    },
  },
  'a payment by card is pending first': {
    given: [paidByCard],
    writes: {
      'payment.succeeded_deferred': [
        'debit provider:card 10000',
        'credit merchant.pending 9610',
        'credit revenue.payment_fees 390',
      ],
    },
  },
  'a payment by card is released': {
    given: [paidByCard, release],
    writes: {
      'payment.available': ['debit merchant.pending 9610', 'credit merchant.available 9610'],
    },
  },
  'a payment by card is released less what refunds took': {
    given: [paidByCard, refundHeld, release],
    writes: {
      'payment.available': ['debit merchant.pending 5610', 'credit merchant.available 5610'],
    },
  },
  'what a failed refund gives back after the release is released too': {
    given: [paidByCard, refundHeld, release, giveBack(refund.id), release],
    writes: {
      'payment.available': ['debit merchant.pending 4000', 'credit merchant.available 4000'],
    },
  },
  "money that arrives after its intent has failed is nobody's": {
    given: [post({ template: 'payment.late', subject: payment, rail: wave, amount: 10_000 })],
    writes: {
      'payment.late': ['debit provider:mobile_money.SN.wave 10000', 'credit suspense.unmatched 10000'],
    },
  },
  'late money is refunded': {
    given: [
      post({ template: 'payment.late', subject: payment, rail: wave, amount: 10_000 }),
      post({ template: 'payment.late_refund', subject: payment, rail: wave, amount: 10_000 }),
    ],
    writes: {
      'payment.late_refund': ['debit suspense.unmatched 10000', 'credit provider:mobile_money.SN.wave 10000'],
    },
  },
  'a refund is held from what is available': {
    given: [paid, refundHeld],
    writes: {
      'refund.hold': ['debit merchant.available 4000', 'credit merchant.reserved 4000'],
    },
  },
  'a refund of a pending payment is held from what is pending, and from available what that is short of': {
    given: [toppedUp(1_000), paidByCard, place(refundOf(10_000))],
    writes: {
      'refund.hold': [
        'debit merchant.pending 9610',
        'debit merchant.available 390',
        'credit merchant.reserved 10000',
      ],
    },
  },
  'a refund that failed gives back to each source what came from it': {
    given: [toppedUp(1_000), paidByCard, place(refundOf(10_000)), giveBack(refund.id)],
    writes: {
      'refund.fail': [
        'debit merchant.reserved 10000',
        'credit merchant.pending 9610',
        'credit merchant.available 390',
      ],
    },
  },
  'a refund is settled': {
    given: [paid, refundHeld, settle(refund.id)],
    writes: {
      'refund.settle': ['debit merchant.reserved 4000', 'credit provider:mobile_money.SN.wave 4000'],
    },
  },
  'a payout is held with its fee': {
    given: [paid, held],
    writes: {
      'payout.hold': ['debit merchant.available 5050', 'credit merchant.reserved 5050'],
    },
  },
  'a payout that was sent is in clearing, its fee is not': {
    given: [paid, held, advance(payout.id)],
    writes: {
      'payout.submit': ['debit merchant.reserved 5000', 'credit clearing.payout 5000'],
    },
  },
  'a payout is settled': {
    given: [paid, held, advance(payout.id), settle(payout.id)],
    writes: {
      'payout.settle': [
        'debit clearing.payout 5000',
        'debit merchant.reserved 50',
        'credit provider:mobile_money.SN.wave 5000',
        'credit revenue.payout_fees 50',
      ],
    },
  },
  'a payout that is settled before we know that it was sent is sent and settled': {
    given: [paid, held, settle(payout.id)],
    writes: {
      'payout.submit': ['debit merchant.reserved 5000', 'credit clearing.payout 5000'],
      'payout.settle': [
        'debit clearing.payout 5000',
        'debit merchant.reserved 50',
        'credit provider:mobile_money.SN.wave 5000',
        'credit revenue.payout_fees 50',
      ],
    },
  },
  'a payout that was never sent gives everything back': {
    given: [paid, held, giveBack(payout.id)],
    writes: {
      'payout.cancel': ['debit merchant.reserved 5050', 'credit merchant.available 5050'],
    },
  },
  'a payout that the operator refused gives everything back': {
    given: [paid, held, advance(payout.id), giveBack(payout.id)],
    writes: {
      'payout.fail': [
        'debit clearing.payout 5000',
        'debit merchant.reserved 50',
        'credit merchant.available 5050',
      ],
    },
  },
  'a payout without a fee moves no zeros': {
    given: [paid, place(payoutOf(5_000)), settle(payout.id)],
    writes: {
      'payout.submit': ['debit merchant.reserved 5000', 'credit clearing.payout 5000'],
      'payout.settle': ['debit clearing.payout 5000', 'credit provider:mobile_money.SN.wave 5000'],
    },
  },
  'a payout that came back makes its source whole': {
    given: [
      paid,
      held,
      settle(payout.id),
      post({ template: 'payout.return', subject: payout, parts: payoutAsked.parts }),
    ],
    writes: {
      'payout.return': [
        'debit provider:mobile_money.SN.wave 5000',
        'debit revenue.payout_fees 50',
        'credit merchant.available 5050',
      ],
    },
  },
  'a release of a contract that came back gives back the fee of the contract too': {
    given: [
      funded,
      place(released),
      settle(payout.id),
      post({ template: 'payout.return', subject: payout, parts: released.parts }),
    ],
    writes: {
      'payout.return': [
        'debit provider:mobile_money.SN.wave 5000',
        'debit revenue.payout_fees 50',
        'debit revenue.escrow_fees 100',
        `credit ${contract} 5150`,
      ],
    },
  },
  'a release of a contract that was paid after all charges the contract with all fees': {
    given: [
      funded,
      place(released),
      giveBack(payout.id),
      post({ template: 'payout.paid_late', subject: payout, parts: released.parts }),
    ],
    writes: {
      'payout.paid_late': [
        `debit ${contract} 5150`,
        'credit provider:mobile_money.SN.wave 5000',
        'credit revenue.payout_fees 50',
        'credit revenue.escrow_fees 100',
      ],
    },
  },
  'play money is topped up': {
    given: [toppedUp(1_000)],
    writes: {
      'sandbox.topup': ['debit sandbox.funding 1000', 'credit merchant.available 1000'],
    },
  },
  'a correction mirrors the entry': {
    given: [paidByCard, { type: 'ReverseEntry', data: { entry: entryPosted(paidByCard) } }],
    writes: {
      reversal: [
        'credit provider:card 10000',
        'debit merchant.pending 9610',
        'debit revenue.payment_fees 390',
      ],
    },
  },
}

for (const [sentence, { given, writes }] of Object.entries(journal)) {
  t.test(sentence, async (t) => {
    const last = after(...given).slice(after(...given.slice(0, -1)).length)
    t.strictSame(Object.fromEntries(last.map(({ data }) => [data.template, spelled(data)])), writes)
  })
}

/** `['debit provider:card 100', …]`. */
function spelled({ postings }: Entry): string[] {
  return postings.map(({ side, account, amount }) => `${side} ${account} ${amount}`)
}
