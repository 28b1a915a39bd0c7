import t from 'tap'
import { identity } from '../../packages/contract/identity.ts'
import { account, bookId, type AccountCode } from '../../packages/domain/ledger/accounts.ts'
import { book } from '../../packages/domain/ledger/book.ts'
import {
  admitPlan,
  creditsOf,
  plainPlan,
  plainPurpose,
  purposeTypes,
  refundableShares,
  refundShares,
  wholePlan,
  type PostingPlan,
  type Share,
} from '../../packages/domain/ledger/plans.ts'
import { paymentIntent } from '../../packages/domain/payment-intents/payment-intent.ts'
import { walletTopup } from '../../packages/domain/wallets/topup.ts'
import { readState } from '../../packages/kernel/history.ts'
import { eventually } from '../support/eventually.ts'
import { lawOver } from '../support/law.ts'
import { orange, startPayments } from '../support/payments/payments.ts'
import { fc } from '../support/properties.ts'

const customer = '0190a1b2-0000-7000-8000-0000000000c1'
const wallet = account('wallet', customer)

const unfit: Record<string, readonly [change: Partial<PostingPlan>, problem: RegExp]> = {
  'an account that the template does not credit': [
    { credits: [{ account: wallet, amount: 100 }] },
    /does not credit wallet/,
  ],
  'an account of ours': [
    { credits: [{ account: 'revenue.payment_fees', amount: 100 }] },
    /does not credit revenue/,
  ],
  'more than is paid': [{ credits: [{ account: 'merchant.available', amount: 101 }] }, /about 101/],
  'less than is paid': [{ credits: [{ account: 'merchant.available', amount: 99 }] }, /about 99/],
  'a fee of the payer that the merchant pays': [{ payerFee: 1 }, /The payer pays no fee here/],
  'a fee that nobody pays': [{ feeMode: 'none' }, /is not paid by none/],
  'the template of another purpose': [{ template: 'escrow.fund' }, /is not booked as escrow.fund/],
}

for (const [what, [change, problem]] of Object.entries(unfit)) {
  t.test(`a plan with ${what} is not stored`, async (t) => {
    t.throws(() => admitPlan({ ...plainPlan(100), ...change }, plainPurpose, 100), problem)
  })
}

t.test('every purpose has a plan that is stored', async (t) => {
  const plans: Partial<Record<(typeof purposeTypes)[number], PostingPlan>> = {
    topup: wholePlan('topup', wallet, 100),
    escrow: wholePlan('escrow', account('escrow.held', customer), 100),
    contribution: wholePlan('contribution', account('campaign', customer), 100),
    order: { ...plainPlan(100), template: 'order.paid' },
  }
  await lawOver(t, purposeTypes, (type) => {
    const plan = plans[type] ?? plainPlan(100)
    t.doesNotThrow(() => admitPlan(plan, { type, id: customer }, 100), type)
  })
})

const shares = fc.array(fc.integer({ min: 1, max: 1_000 }), { minLength: 1, maxLength: 5 }).map((amounts) => {
  return amounts.map((amount, index): Share => {
    const code: AccountCode = index === 0 ? 'merchant.available' : account('seller.pending', String(index))
    return { account: code, amount }
  })
})
const sum = (of: readonly Share[]) => of.reduce((total, { amount }) => total + amount, 0)

t.test('no amount is lost between a payment, its fee and its refunds', async () => {
  const property = fc.property(shares, fc.nat(100), fc.array(fc.nat(100)), (credits, percent, parts) => {
    const amount = sum(credits)
    const fee = Math.floor((amount * percent) / 100)
    const plan: PostingPlan = { template: 'order.paid', credits, feeMode: 'merchant', payerFee: 0 }
    const credited = creditsOf(plan, fee)
    if (sum(credited) !== amount - fee) throw new Error('the credits are what the fee leaves')
    const sellers = sum(credits.slice(1))
    const own = credited.find((share) => share.account === 'merchant.available')?.amount ?? 0
    if (own > 0 && sum(credited) - own !== sellers) throw new Error('the merchant pays the fee first')
    let left = refundableShares(credited, amount)
    if (sum(left) !== amount) throw new Error('all of it can be refunded')
    for (const part of [...parts, 100]) {
      const refunded = part === 100 ? sum(left) : Math.floor((sum(left) * part) / 100)
      const taken = refundShares(left, refunded)
      if (sum(taken) !== refunded) throw new Error('a refund takes what it gives')
      left = left.map((share) => {
        const given = taken.find((each) => each.account === share.account)?.amount ?? 0
        if (given > share.amount) throw new Error('nobody gives more than is left')
        return { ...share, amount: share.amount - given }
      })
    }
    if (sum(left) !== 0) throw new Error('the last refund takes what is left')
  })
  fc.assert(property, { numRuns: 2_000 })
})

t.test('a payment for a wallet goes there whole, and is refunded from there', async (t) => {
  const service = await startPayments(t)
  const { dependencies } = service.service.runtime
  const { merchant_id: merchant } = service.service.credentials
  const envelope = { merchant, livemode: false, actor: 'key:test', correlation: 'test' }
  const id = dependencies.newId()
  const data = {
    amount: 5_000,
    currency: 'XOF',
    transactionCountry: 'SN',
    payerCountry: null,
    railCountry: null,
    description: null,
    metadata: {},
    customer: null,
    purpose: { type: 'topup', id: customer } as const,
    plan: wholePlan('topup', wallet, 5_000),
  }
  const asked = { customer, amount: 5_000, currency: 'XOF', paymentIntent: id }
  const topup = { type: 'RequestTopup', data: asked } as const
  await dependencies.executor.send(walletTopup, customer, topup, envelope)
  await dependencies.executor.send(paymentIntent, id, { type: 'CreateIntent', data }, envelope)
  const balanceOf = async () => {
    const state = await readState(dependencies.store, book, bookId(merchant, false, 'XOF'))
    return state.balances[wallet] ?? 0
  }
  const intent = { id: `pi_${id.replaceAll('-', '')}` }
  await service.confirm(intent, orange())
  await service.play(intent, 'succeeded')
  await eventually(balanceOf, (balance) => balance === 5_000)
  const payment = `/api/v1/merchant/payments/pay_${id.replaceAll('-', '')}`
  t.match(
    await eventually(
      () => service.get(payment),
      ({ status }) => status === 200,
    ),
    {
      body: { purpose: 'topup', source: { object: 'wallet_topup', id: customer }, fee: 0, net: 5_000 },
    },
  )
  const refunded = await service.post(`${payment}/refund`, { amount: 2_000 })
  t.match(refunded, { status: 201, body: { amount: 2_000 } })
  t.equal(await balanceOf(), 3_000)
  t.equal(identity(String(refunded.body['payment_intent']), 'pi'), id)
})
