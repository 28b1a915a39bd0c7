import t from 'tap'
import { identity } from '../../packages/contract/identity.ts'
import { bookId } from '../../packages/domain/ledger/accounts.ts'
import { eventually } from '../support/eventually.ts'
import { card, startPayments, type Body, type Payments } from '../support/payments/payments.ts'

let service: Payments

t.before(async () => {
  service = await startPayments(t)
})

const transactionsOf = async (intent: Body) => {
  const path = `/api/v1/balance-transactions?source=${String(intent['id']).replace('pi_', 'pay_')}`
  return (await service.get<{ data: Body[] }>(path)).body.data
}

async function paidByCard(amount: number, currency: string): Promise<Body> {
  const intent = await service.create({ amount, currency })
  await service.confirm(intent, card('tok_instant'))
  await eventually(
    () => transactionsOf(intent),
    ({ length }) => length === 1,
  )
  return intent
}

/** Timers that wait for the money of a payment to be released. */
async function releases(intent: Body): Promise<number> {
  return releasesOf(identity(String(intent['id']), 'pi')!)
}

async function releasesOf(id: string): Promise<number> {
  const { reads } = service.service.runtime.dependencies
  const where = [{ column: 'id', operator: 'ilike', value: `payment_available:${id}.%` }] as const
  return (await reads.page({ from: 'timers', where, order: 'id', limit: 10 })).rows.length
}

t.test('a card payment that its fee eats is done with at once', async (t) => {
  const intent = await paidByCard(12, 'eur')
  t.match(await transactionsOf(intent), [{ type: 'payment', net: 0, status: 'available' }])
  t.equal(await releases(intent), 0)
})

t.test('a card payment that is refunded in full before its release waits for nothing', async (t) => {
  await service.post('/api/test/balance/topup', { amount: 10_000, currency: 'EUR' })
  const intent = await paidByCard(5_000, 'eur')
  t.match(await transactionsOf(intent), [{ status: 'pending' }])
  await eventually(
    () => releases(intent),
    (waiting) => waiting === 1,
  )
  const path = `/api/v1/merchant/payments/${String(intent['id']).replace('pi_', 'pay_')}/refund`
  t.match(await service.post(path), { status: 201 })
  await eventually(
    () => transactionsOf(intent),
    ([payment]) => payment?.['status'] === 'available',
  )
  await eventually(
    () => releases(intent),
    (left) => left === 0,
  )
})

t.test('a card payment that its fee ate before it was noticed waits for nothing either', async (t) => {
  const { store, reads, newId } = service.service.runtime.dependencies
  const intent = await paidByCard(12, 'eur')
  const id = identity(String(intent['id']), 'pi')
  const stream = `ledger-${bookId(service.service.credentials.merchant_id, false, 'EUR')}`
  const entries = await store.readStream(stream, 0)
  const eaten = entries.find(({ data }) => (data as { subject: { id: string } }).subject.id === id)!
  const payment = newId()
  const subject = { type: 'payment', id: payment }
  // Older versions wrote when it would be released.
  const data = { ...eaten.data, entryId: newId(), subject, availableAt: '2026-01-05T00:00:00.000Z' }
  const { type, metadata } = eaten
  await store.append(stream, entries.length - 1, [{ id: newId(), type, data, metadata }])
  t.ok(await reads.reached(await store.head(), 10_000, 'timers'))
  t.equal(await releasesOf(payment), 0)
})

t.test('a card pays no more than a book can count', async (t) => {
  const intent = { amount: Number.MAX_SAFE_INTEGER, currency: 'eur', transaction_country: 'SN' }
  const refused = await service.post('/api/v1/payment-intents', intent)
  t.match(refused, { status: 400, body: { code: 'IKW-TRANSFER-001', errors: [{ pointer: '/amount' }] } })
  const payout = {
    amount: Number.MAX_SAFE_INTEGER - 1_000,
    currency: 'EUR',
    destination: { type: 'bank', bank_code: 'SN010', account_number: '000000000001', account_name: 'Awa' },
  }
  t.match(await service.post('/api/v1/payouts', payout), { status: 400, body: { code: 'IKW-PAYOUT-009' } })
  const topup = { amount: 1e15 + 1, currency: 'EUR' }
  t.match(await service.post('/api/test/balance/topup', topup), { body: { code: 'IKW-LEDGER-004' } })
})

t.test('the balance of a time is right although clocks differed around midnight', async (t) => {
  const { store, newId } = service.service.runtime.dependencies
  const { merchant_id: merchant } = service.service.credentials
  await service.post('/api/test/balance/topup', { amount: 1, currency: 'XAF' })
  const stream = `ledger-${bookId(merchant, false, 'XAF')}`
  const [first] = await store.readStream(stream, 0)
  const times = ['2026-01-01T23:59:59.900Z', '2026-01-02T00:00:00.050Z', '2026-01-01T23:59:59.950Z']
  const events = times.map((effectiveAt) => {
    const data = { ...first!.data, entryId: newId(), effectiveAt }
    return { id: newId(), type: first!.type, data, metadata: first!.metadata }
  })
  await store.append(stream, 0, events)
  const { reads } = service.service.runtime.dependencies
  await reads.reached(await store.head(), 10_000)
  const at = async (time: string) => {
    const { body } = await service.get(`/api/v1/balance?currency=XAF&as_of=${time}`)
    return (body['available'] as { amount: number }[])[0]!.amount
  }
  t.equal(await at('2026-01-01T23:59:59.920Z'), 1)
  t.equal(await at('2026-01-02T00:00:00.000Z'), 2)
  t.equal(await at('2026-01-02T00:00:00.100Z'), 3)
  t.equal(await at('2126-01-01T00:00:00.000Z'), 4)
})
