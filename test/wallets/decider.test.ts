import { walletApplication, type WalletApplicationEvents } from '../../packages/domain/wallets/application.ts'
import { walletTopup, type WalletTopupEvents } from '../../packages/domain/wallets/topup.ts'
import type { Message } from '../../packages/kernel/decider.ts'
import { scenarios } from '../support/scenarios.ts'

const invoice = '0190a1b2-0000-7000-8000-0000000000f1'
const customer = '0190a1b2-0000-7000-8000-0000000000c1'
const paymentIntent = '0190a1b2-0000-7000-8000-0000000000b1'

const terms = { invoice, customer, currency: 'XOF', amount: 500, fee: 5, isWhole: true, description: null }
const requested: Message<WalletApplicationEvents> = { type: 'WalletApplicationRequested', data: terms }
const completed: Message<WalletApplicationEvents> = {
  type: 'WalletApplicationCompleted',
  data: { invoice, remaining: 20 },
}
const failed: Message<WalletApplicationEvents> = { type: 'WalletApplicationFailed', data: { invoice } }
const complete = { type: 'CompleteApplication', data: { remaining: 20 } } as const
const fail = { type: 'FailApplication', data: {} } as const

scenarios(walletApplication, {
  'an application is asked for once': {
    when: { type: 'RequestApplication', data: terms },
    then: [requested],
  },
  'it is completed when the book has taken the money': {
    given: [requested],
    when: complete,
    then: [completed],
  },
  'it fails when the book has refused it': { given: [requested], when: fail, then: [failed] },
})

const asked = { customer, amount: 500, currency: 'XOF', paymentIntent }
const wanted: Message<WalletTopupEvents> = { type: 'WalletTopupRequested', data: asked }
const arrived: Message<WalletTopupEvents> = { type: 'WalletTopupCompleted', data: { paymentIntent } }
const unpaid: Message<WalletTopupEvents> = { type: 'WalletTopupFailed', data: { paymentIntent } }
const returned: Message<WalletTopupEvents> = { type: 'WalletTopupReturned', data: { paymentIntent } }

scenarios(walletTopup, {
  'a top-up is asked for once': { when: { type: 'RequestTopup', data: asked }, then: [wanted] },
  'it succeeds with its payment': {
    given: [wanted],
    when: { type: 'CompleteTopup', data: {} },
    then: [arrived],
  },
  'it fails with its payment': { given: [wanted], when: { type: 'FailTopup', data: {} }, then: [unpaid] },
  'what has succeeded does not fail any more': {
    given: [wanted, arrived],
    when: { type: 'FailTopup', data: {} },
    then: [],
  },
  'what has failed is not there, however late somebody pays': {
    given: [wanted, unpaid],
    when: { type: 'CompleteTopup', data: {} },
    then: [],
  },
  'the operator takes back what had come in': {
    given: [wanted, arrived],
    when: { type: 'ReturnTopup', data: {} },
    then: [returned],
  },
  'what never came in is not taken back': {
    given: [wanted, unpaid],
    when: { type: 'ReturnTopup', data: {} },
    then: [],
  },
})
