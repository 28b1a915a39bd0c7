import { randomUUID } from 'node:crypto'
import t from 'tap'
import { SandboxOperations } from '../infra/postgres/sandbox-operations.ts'
import {
  RailTimeout,
  RailUnavailable,
  type RailMethod,
  type RailRequest,
  type RailState,
} from '../packages/kernel/rail-ports.ts'
import { testDatabase } from './support/postgres.ts'
import {
  account,
  booked,
  card,
  minute,
  mobile,
  operators,
  redirectBase,
  request,
  second,
  until,
} from './support/sandbox-operators.ts'

const { pool } = await testDatabase(t)
t.beforeEach(() => pool.query('truncate sandbox_operations'))

const declined = { state: 'failed', code: 'operator_declined', message: 'No.' } as const

async function failureCode(state: Promise<RailState>): Promise<string | undefined> {
  const known = await state
  return known.state === 'failed' ? known.code : undefined
}

t.test('a bank payout is paid at once, a card payment and a refund succeed at once', async (t) => {
  const { rail } = operators(t, pool)
  for (const each of [
    request('disbursement', account('1234')),
    request('collection', card('tok_anything')),
    request('refund', mobile('0001')),
    request('refund', card('tok_visa')),
  ]) {
    t.same(await rail.submit(each), { state: 'succeeded' })
    t.same(await rail.status(each.reference), { state: 'succeeded' })
    t.match(await booked(pool, each.reference), { executions: 1, callbacksOwed: 0 })
  }
})

t.test('a payer gets a prompt, or is redirected by a wallet and by a card with 3-D Secure', async (t) => {
  const { rail } = operators(t, pool)
  t.same(await rail.submit(request('collection', mobile('0001'))), { state: 'pending' })
  for (const method of [mobile('0001', 'wave'), mobile('1234', 'wave'), card('tok_3ds')]) {
    const each = request('collection', method)
    t.same(await rail.submit(each), { state: 'redirect', url: `${redirectBase}/${each.reference}` })
  }
  const payout = request('disbursement', mobile('0001', 'wave'))
  t.same(await rail.submit(payout), { state: 'pending' }, 'no payout is redirected')
})

t.test('magic values end an operation after their delay, and the operator calls back', async (t) => {
  const cases: [RailRequest['kind'], RailMethod, delayMs: number, state: string, code?: string][] = [
    ['collection', mobile('0001'), 2 * second, 'succeeded'],
    ['disbursement', mobile('0001'), 2 * second, 'succeeded'],
    ['disbursement', account('0001'), 2 * second, 'succeeded'],
    ['collection', card('tok_visa'), 2 * second, 'succeeded'],
    ['collection', mobile('0002'), 2 * second, 'failed', 'insufficient_funds'],
    ['disbursement', mobile('0002'), 2 * second, 'failed', 'recipient_not_found'],
    ['collection', mobile('0003', 'wave'), 5 * second, 'failed', 'payer_declined'],
    ['disbursement', account('0003'), 5 * second, 'failed', 'operator_declined'],
    ['disbursement', mobile('0005'), 15 * minute, 'succeeded'],
    ['collection', mobile('0007'), 2 * second, 'succeeded'],
    ['collection', mobile('0009'), 2 * second, 'succeeded'],
    ['collection', mobile('1234'), 5 * minute, 'failed', 'payment_timeout'],
    ['collection', card('tok_3ds'), 15 * minute, 'failed', 'payment_timeout'],
  ]
  for (const [kind, method, delayMs, state, code] of cases) {
    const { rail, pass, listen, callbacks } = operators(t, pool)
    const each = request(kind, method)
    const submitted = await rail.submit(each)
    pass(delayMs - 1)
    t.same(await rail.status(each.reference), submitted, 'not a moment before')
    pass(1)
    t.match(await rail.status(each.reference), { state, ...(code && { code }) })
    const subscription = listen()
    await until(() => callbacks.length > 0)
    await subscription.close()
    const { reference, merchant, livemode } = each
    t.match(callbacks, [{ reference, kind, merchant, livemode, result: { state } }])
    t.match(await booked(pool, reference), { executions: state === 'succeeded' ? 1 : 0, callbacksOwed: 0 })
  }
})

t.test('declined cards, and refunds of the number 0009, fail at once', async (t) => {
  const { rail } = operators(t, pool)
  const declined = { tok_declined: 'card_declined', tok_chargeDeclinedExpiredCard: 'expired_card' }
  for (const [token, code] of Object.entries(declined)) {
    t.equal(await failureCode(rail.submit(request('collection', card(token)))), code)
  }
  t.equal(await failureCode(rail.submit(request('refund', mobile('0009')))), 'could_not_process')
})

t.test('an operator that never answers takes a payout and says nothing about it for ever', async (t) => {
  const { rail, pass } = operators(t, pool)
  const each = request('disbursement', mobile('0004'))
  t.same(await rail.submit(each), { state: 'pending' })
  pass(100 * 60 * minute)
  await t.rejects(rail.status(each.reference), RailTimeout)
  t.match(await booked(pool, each.reference), { calls: 1, executions: 0 })
})

t.test('a payment that is never answered is known to have failed when its prompt has expired', async (t) => {
  const { rail, pass } = operators(t, pool)
  const each = request('collection', mobile('0004'))
  await rail.submit(each)
  pass(5 * minute - 1)
  await t.rejects(rail.status(each.reference), RailTimeout)
  pass(1)
  t.equal(await failureCode(rail.status(each.reference)), 'payment_timeout')
  t.match(await booked(pool, each.reference), { callbacksOwed: 0 }, 'and nobody is called')
})

t.test('an operator that is down says so and has received nothing', async (t) => {
  const { rail } = operators(t, pool)
  const each = request('disbursement', mobile('0006'))
  await t.rejects(rail.submit(each), RailUnavailable)
  t.same(await rail.status(each.reference), { state: 'never_received' })
  t.equal(await rail.health(each.method), 'down')
  t.equal(await rail.health(mobile('0001')), 'up')
})

t.test('a reference is carried out once, by however many processes it is submitted', async (t) => {
  const { rail } = operators(t, pool)
  const other = operators(t, pool).rail
  const each = request('disbursement', account('1234'))
  const rails = Array.from({ length: 20 }, (_, turn) => (turn % 2 ? rail : other))
  const states = await Promise.all(rails.map((one) => one.submit(each)))
  t.same(new Set(states.map(({ state }) => state)), new Set(['succeeded']))
  t.match(await booked(pool, each.reference), { calls: 20, executions: 1 })
})

t.test('a second submission answers what has become of the first', async (t) => {
  const { rail, pass } = operators(t, pool)
  const each = request('disbursement', mobile('0002'))
  await rail.submit(each)
  pass(2 * second)
  await rail.status(each.reference)
  t.equal(await failureCode(rail.submit(each)), 'recipient_not_found')
})

t.test('an operation waits for what it is resolved to, and nobody is called back', async (t) => {
  for (const result of [{ state: 'succeeded' }, declined] as const) {
    const { rail, pass } = operators(t, pool)
    for (const method of [mobile('1234'), mobile('0004'), mobile('0001')]) {
      const each = request('disbursement', method)
      await rail.submit(each)
      await rail.resolve(each.reference, result)
      pass(60 * minute)
      t.same(await rail.status(each.reference), result)
      const executions = result.state === 'succeeded' ? 1 : 0
      t.match(await booked(pool, each.reference), { executions, callbacksOwed: 0 })
    }
  }
})

t.test('what has ended is not resolved again, but what was paid may be returned', async (t) => {
  const { rail } = operators(t, pool)
  const { reference } = request('disbursement', mobile('1234'))
  await rail.resolve(reference, { state: 'succeeded' })
  await rail.resolve(reference, declined)
  t.same(await rail.status(reference), { state: 'succeeded' })
  await rail.resolve(reference, { state: 'returned' })
  t.same(await rail.status(reference), { state: 'returned' })
  await t.rejects(rail.resolve(reference, { state: 'pending' }), TypeError)
})

t.test('what is resolved before it is submitted is not carried out again', async (t) => {
  const { rail } = operators(t, pool)
  const each = request('disbursement', account('1234'))
  await rail.resolve(each.reference, { state: 'succeeded' })
  t.same(await rail.submit(each), { state: 'succeeded' })
  const { merchant } = each
  t.match(await booked(pool, each.reference), { calls: 1, executions: 1, amount: 5_000, merchant })
})

t.test('an answer that gets lost leaves the operation carried out', async (t) => {
  const { rail } = operators(t, pool, { answerLate: ({ kind }) => kind === 'disbursement' })
  const each = request('disbursement', account('1234'))
  await t.rejects(rail.submit(each), RailTimeout)
  t.same(await rail.status(each.reference), { state: 'succeeded' })
  t.same(await rail.submit(request('collection', card('tok_x'))), { state: 'succeeded' })
})

t.test('the delays can be shortened', async (t) => {
  const { rail } = operators(t, pool, { delaysMs: { soon: 0 } })
  const each = request('disbursement', mobile('0001'))
  await rail.submit(each)
  t.same(await rail.status(each.reference), { state: 'succeeded' })
})

t.test('the operators remember what they were told when we start again', async (t) => {
  const each = request('disbursement', mobile('0001'))
  await operators(t, pool).rail.submit(each)
  const { rail, pass, listen, callbacks } = operators(t, pool)
  pass(2 * second)
  listen()
  await until(() => callbacks.length > 0)
  t.match(callbacks, [{ reference: each.reference, result: { state: 'succeeded' } }])
  t.same(await rail.status(each.reference), { state: 'succeeded' })
})

t.test('a book that cannot be reached is an operator that does not answer', async (t) => {
  const database = await testDatabase(t)
  const { rail } = operators(t, pool, { book: new SandboxOperations(database.pool) })
  await database.pool.query('drop table sandbox_operations')
  await t.rejects(rail.submit(request('disbursement', account('1234'))), RailTimeout)
  await t.rejects(rail.status(randomUUID()), RailTimeout)
})
