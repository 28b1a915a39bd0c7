import t from 'tap'
import { identity } from '../../packages/contract/identity.ts'
import { bookId, merchantAvailable } from '../../packages/domain/ledger/accounts.ts'
import { book } from '../../packages/domain/ledger/book.ts'
import { balances } from '../../packages/domain/ledger/state.ts'
import { paymentIntent } from '../../packages/domain/payment-intents/payment-intent.ts'
import { readState } from '../../packages/kernel/history.ts'
import type { DueTimer } from '../../packages/kernel/ports/reads.ts'
import { verifyLog } from '../../services/audit/verify.ts'
import { deciders } from '../../packages/domain/index.ts'
import { toolsOf } from '../../services/processes/runner/main.ts'
import { refundProcess } from '../../services/processes/refunds.ts'
import { holdProcess } from '../../services/processes/unclaimed-holds.ts'
import { eventually } from '../support/eventually.ts'
import { orange, startPayments, type Payments } from '../support/payments/payments.ts'

type Body = Record<string, unknown>

let service: Payments

t.before(async () => {
  service = await startPayments(t)
  await service.post('/api/test/balance/topup', { amount: 1_000_000, currency: 'XAF' })
})

const timers = { ...holdProcess.timers, ...refundProcess.timers }
const waiting = ['hold_unclaimed', 'refund_unrequested']

/** What waits for its claim, once the read models have seen all. */
async function unclaimed(): Promise<readonly DueTimer[]> {
  const { reads, store } = service.service.runtime.dependencies
  await reads.reached(await store.head(), 10_000)
  const where = [{ column: 'kind', operator: 'in', value: waiting }] as const
  const { rows } = await reads.page<DueTimer>({ from: 'timers', where, order: 'id', limit: 100 })
  return rows
}

/** Five minutes later. */
async function sweep(): Promise<void> {
  const tools = toolsOf(service.service.runtime.dependencies)
  for (const timer of await unclaimed()) await timers[timer.kind]!(timer, tools)
}

async function held(currency: string): Promise<number> {
  const { dependencies } = service.service.runtime
  const id = bookId(service.service.credentials.merchant_id, false, currency)
  return balances(await readState(dependencies.store, book, id)).reserved
}

async function violations() {
  const { store } = service.service.runtime.dependencies
  const now = new Date()
  const onProgress = () => undefined
  return (await verifyLog({ store, deciders, policiesThrough: 0, now, onProgress })).violations
}

const wave = { type: 'mobile_money', country: 'SN', operator: 'wave', msisdn: '+221770000000' }
const mtn = { type: 'mobile_money', country: 'CM', operator: 'mtn', msisdn: '+237670000000' }
const orders = [
  { amount: 1_000, currency: 'XOF', destination: wave },
  { amount: 1_000, currency: 'XAF', destination: mtn },
]

t.test(
  'of two payouts with one key in two currencies one is paid, and the other holds nothing',
  async (t) => {
    const before = (await held('XOF')) + (await held('XAF'))
    for (let pair = 0; pair < 5; pair++) {
      const headers = { 'idempotency-key': `two currencies ${pair}`.replaceAll(' ', '-') }
      const answers = await Promise.all(
        orders.map((order) => service.post('/api/v1/payouts', order, { headers })),
      )
      t.strictSame(answers.map(({ status }) => status).sort(), [201, 409])
    }
    await sweep()
    t.equal((await held('XOF')) + (await held('XAF')) - before, 5 * 1_050, 'that of the five payouts')
    t.strictSame(await unclaimed(), [], 'nothing waits any more')
    t.strictSame(await violations(), [])
  },
)

t.test('a payout claims the hold that has its id, and no other one of its currency', async (t) => {
  const { executor, newId } = service.service.runtime.dependencies
  const before = await held('XOF')
  const { body } = await service.post('/api/v1/payouts', orders[0])
  const payout = identity(String(body['id']), 'po')!
  const stray = newId()
  const merchant = service.service.credentials.merchant_id
  const envelope = { merchant, livemode: false, actor: 'test', correlation: stray }
  const money = { amount: 700, fee: 0, feeAccount: null, source: merchantAvailable, rail: 'test' } as const
  const data = {
    template: 'payout.hold' as const,
    subject: { type: 'payout', id: stray },
    owner: `payout-${payout}`,
    parts: [{ id: stray, ...money }],
  }
  const xof = bookId(merchant, false, 'XOF')
  await executor.send(book, xof, { type: 'PlaceHold', data }, envelope)
  await sweep()
  t.equal((await held('XOF')) - before, 1_050, 'that of the payout')
})

/** A payment of 5,000 that has arrived. */
async function paid(): Promise<Body> {
  const intent = await service.create({ amount: 5_000 })
  await service.confirm(intent, orange())
  await service.play(intent, 'succeeded')
  const path = `/api/v1/merchant/payments/${String(intent['id']).replace('pi_', 'pay_')}`
  await eventually(
    () => service.get(path),
    ({ status }) => status === 200,
  )
  return { ...intent, path }
}

t.test('of two refunds with one key the other payment stays refundable', async (t) => {
  for (let pair = 0; pair < 3; pair++) {
    const payments = [await paid(), await paid()]
    const headers = { 'idempotency-key': `two-payments-${pair}` }
    const answers = await Promise.all(
      payments.map(({ path }) => service.post(`${String(path)}/refund`, {}, { headers })),
    )
    t.strictSame(answers.map(({ status }) => status).sort(), [201, 409])
    const refusedAt = answers.findIndex(({ status }) => status === 409)
    await sweep()
    const { path } = payments[refusedAt]!
    t.match(await service.get(String(path)), { body: { can_refund: true } })
    t.match(await service.post(`${String(path)}/refund`), { status: 201, body: { amount: 5_000 } })
  }
  t.strictSame(await unclaimed(), [])
  t.strictSame(await violations(), [])
})

t.test('a reservation for a refund that became that of another payment is released', async (t) => {
  const [one, other] = [await paid(), await paid()]
  const headers = { 'idempotency-key': 'reserved-late' }
  const { body } = await service.post(`${String(one['path'])}/refund`, {}, { headers })
  const { dependencies } = service.service.runtime
  const { merchant_id: merchant } = service.service.credentials
  const envelope = { merchant, livemode: false, actor: 'key:test', correlation: 'test' }
  const refund = identity(String(body['id']), 're')!
  const reserve = { type: 'ReserveRefund', data: { refund } } as const
  const id = identity(String(other['id']), 'pi')!
  await dependencies.executor.send(paymentIntent, id, reserve, envelope)
  t.match(await service.get(String(other['path'])), { body: { can_refund: false } })
  await sweep()
  t.match(await service.get(String(other['path'])), { body: { can_refund: true } })
  t.strictSame(await unclaimed(), [], 'the timer has ended')
})
