import { isDeepStrictEqual } from 'node:util'
import t from 'tap'
import { identity } from '../../packages/contract/identity.ts'
import { account, bookId } from '../../packages/domain/ledger/accounts.ts'
import { book } from '../../packages/domain/ledger/book.ts'
import { wholePlan, type PostingPlan, type Purpose } from '../../packages/domain/ledger/plans.ts'
import { paymentIntent } from '../../packages/domain/payment-intents/payment-intent.ts'
import { readState } from '../../packages/kernel/history.ts'
import type { RailState } from '../../packages/kernel/ports/rails.ts'
import { eventually } from '../support/eventually.ts'
import { orange } from '../support/payments/payments.ts'
import { ScriptedRail } from '../support/payments/scripted-rail.ts'
import { startService, type TestService } from '../support/service.ts'

const provider = new ScriptedRail()
let service: TestService

t.before(async () => {
  service = await startService(t, {}, { rails: [{ environments: ['sandbox'], rail: provider }] })
})

const amount = 5_000
const refunded = 2_000
const patienceMs = 20_000
const someone = '0190a1b2-0000-7000-8000-0000000000c1'
const wallet = account('wallet', someone)
const seller = account('seller.pending', someone)

interface Paid {
  readonly type: Purpose['type']
  readonly plan: PostingPlan
  /** What each account gives of the refund. */
  readonly gives: Readonly<Record<string, number>>
}

const order: PostingPlan = {
  template: 'order.paid',
  credits: [
    { account: 'merchant.available', amount: 2_000 },
    { account: seller, amount: 3_000 },
  ],
  feeMode: 'merchant',
  payerFee: 0,
}

const payments: Readonly<Record<string, Paid>> = {
  'one into a wallet': {
    type: 'topup',
    plan: wholePlan('topup', wallet, amount),
    gives: { [wallet]: refunded },
  },
  'one that a merchant and a seller share': {
    type: 'order',
    plan: order,
    gives: { 'merchant.available': 800, [seller]: 1_200 },
  },
}

const succeeded: RailState = { state: 'succeeded' }
const failed: RailState = { state: 'failed', code: 'processing_error', message: 'no' }
const returned: RailState = { state: 'returned' }

const stories = {
  'succeeded, then returned': { words: [succeeded, returned], ends: 'failed', isGiven: false },
  'succeeded, then failed': { words: [succeeded, failed], ends: 'failed', isGiven: false },
  'failed, then succeeded': { words: [failed, succeeded], ends: 'succeeded', isGiven: true },
} as const

async function balances(): Promise<Readonly<Record<string, number>>> {
  const { runtime, credentials } = service.service
  const { store } = runtime.dependencies
  return { ...(await readState(store, book, bookId(credentials.merchant_id, false, 'XOF'))).balances }
}

/** A payment by this plan, whose money is in the book. */
async function pay({ type, plan }: Paid): Promise<string> {
  const { dependencies } = service.service.runtime
  const merchant = service.service.credentials.merchant_id
  const envelope = { merchant, livemode: false, actor: 'key:test', correlation: 'test' }
  const id = dependencies.newId()
  const unknown = { payerCountry: null, railCountry: null, description: null, customer: null, metadata: {} }
  const terms = { amount, currency: 'XOF', transactionCountry: 'SN', ...unknown }
  const data = { ...terms, purpose: { type, id: someone }, plan }
  await dependencies.executor.send(paymentIntent, id, { type: 'CreateIntent', data }, envelope)
  const last = plan.credits.at(-1)!
  const before = (await balances())[last.account] ?? 0
  const { body } = await service.post(`/api/v1/payment-intents/${id}/confirm`, orange())
  await provider.say(identity(String(body['operation_id']), 'op')!, succeeded)
  await eventually(balances, (now) => now[last.account] === before + last.amount, patienceMs)
  return id
}

for (const [what, payment] of Object.entries(payments)) {
  for (const [story, { words, ends, isGiven }] of Object.entries(stories)) {
    t.test(`a refund of ${what} that ${story} moves what it took, and nothing else`, async (t) => {
      const path = `/api/v1/merchant/payments/${await pay(payment)}`
      const before = await balances()
      const { body } = await service.post(`${path}/refund`, { amount: refunded })
      const refund = identity(String(body['id']), 're')!
      for (const word of words) await provider.say(refund, word)
      const shown = () => service.get(`/api/v1/merchant/refunds/${refund}`)
      await eventually(shown, (answer) => answer.body['status'] === ends, patienceMs)
      const given = Object.entries(isGiven ? payment.gives : {})
      const wanted: Record<string, number> = { ...before }
      for (const [code, part] of given) wanted[code] = (wanted[code] ?? 0) - part
      const rail = Object.keys(before).find((code) => code.startsWith('provider:'))!
      if (isGiven) wanted[rail] = wanted[rail]! - refunded
      for (const [code, balance] of Object.entries(wanted)) if (balance === 0) delete wanted[code]
      const after = await eventually(balances, (now) => isDeepStrictEqual(now, wanted), patienceMs)
      t.strictSame(after, wanted)
    })
  }
}
