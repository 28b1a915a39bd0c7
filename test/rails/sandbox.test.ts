import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { HttpSandboxBook } from '../../infra/rails/sandbox-http.ts'
import { testDatabase } from '../support/postgres.ts'
import { randomUUID } from 'node:crypto'
import {
  RailTimeoutError,
  RailUnavailableError,
  type RailMethod,
  type RailRequest,
  type RailState,
} from '../../packages/kernel/ports/rails.ts'
import {
  account,
  booked,
  card,
  minute,
  mobile,
  onEachBook,
  serverOf,
  operators,
  redirectBase,
  request,
  second,
  until,
} from '../support/payments/sandbox-operators.ts'

const declined = { state: 'failed', code: 'operator_declined', message: 'No.' } as const

async function failureCode(state: Promise<RailState>): Promise<string | undefined> {
  const known = await state
  return known.state === 'failed' ? known.code : undefined
}

onEachBook((t, { book, pool }) => {
  t.test('a bank payout is paid at once, a card payment and a refund succeed at once', async (t) => {
    const { rail } = operators(t, book)
    for (const each of [
      request('disbursement', account('1234')),
      request('collection', card('tok_instant')),
      request('refund', mobile('0001')),
      request('refund', card('tok_visa')),
    ]) {
      t.same(await rail.submit(each), { state: 'succeeded' })
      t.same(await rail.status(each.reference), { state: 'succeeded' })
      t.match(await booked(pool, each.reference), { executions: 1, callbacksOwed: 0 })
    }
  })

  t.test('a payer gets a prompt, or is redirected by a wallet and by a card with 3-D Secure', async (t) => {
    const { rail } = operators(t, book)
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
      const { rail, pass, listen, callbacks } = operators(t, book)
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
    const { rail } = operators(t, book)
    const declined = { tok_declined: 'card_declined', tok_chargeDeclinedExpiredCard: 'expired_card' }
    for (const [token, code] of Object.entries(declined)) {
      t.equal(await failureCode(rail.submit(request('collection', card(token)))), code)
    }
    t.equal(await failureCode(rail.submit(request('refund', mobile('0009')))), 'could_not_process')
  })

  t.test('an operator that never answers takes a payout and says nothing about it for ever', async (t) => {
    const { rail, pass } = operators(t, book)
    const each = request('disbursement', mobile('0004'))
    t.same(await rail.submit(each), { state: 'pending' })
    pass(100 * 60 * minute)
    await t.rejects(rail.status(each.reference), RailTimeoutError)
    t.match(await booked(pool, each.reference), { calls: 1, executions: 0 })
  })

  t.test(
    'a payment that is never answered is known to have failed when its prompt has expired',
    async (t) => {
      const { rail, pass } = operators(t, book)
      const each = request('collection', mobile('0004'))
      await rail.submit(each)
      pass(5 * minute - 1)
      await t.rejects(rail.status(each.reference), RailTimeoutError)
      pass(1)
      t.equal(await failureCode(rail.status(each.reference)), 'payment_timeout')
      t.match(await booked(pool, each.reference), { callbacksOwed: 0 }, 'and nobody is called')
    },
  )

  t.test('an operator that is down says so and has received nothing', async (t) => {
    const { rail } = operators(t, book)
    const each = request('disbursement', mobile('0006'))
    await t.rejects(rail.submit(each), RailUnavailableError)
    t.same(await rail.status(each.reference), { state: 'never_received' })
    t.equal(await rail.health(each), 'down')
    t.equal(await rail.health({ method: mobile('0001') }), 'up')
  })

  t.test('a reference is carried out once, by however many processes it is submitted', async (t) => {
    const { rail } = operators(t, book)
    const other = operators(t, book).rail
    const each = request('disbursement', account('1234'))
    const rails = Array.from({ length: 20 }, (_, turn) => (turn % 2 ? rail : other))
    const states = await Promise.all(rails.map((one) => one.submit(each)))
    t.same(new Set(states.map(({ state }) => state)), new Set(['succeeded']))
    t.match(await booked(pool, each.reference), { calls: 20, executions: 1 })
  })

  t.test('a second submission answers what has become of the first', async (t) => {
    const { rail, pass } = operators(t, book)
    const each = request('disbursement', mobile('0002'))
    await rail.submit(each)
    pass(2 * second)
    await rail.status(each.reference)
    t.equal(await failureCode(rail.submit(each)), 'recipient_not_found')
  })

  t.test('an operation waits for what it is resolved to, and nobody is called back', async (t) => {
    for (const result of [{ state: 'succeeded' }, declined] as const) {
      const { rail, pass } = operators(t, book)
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
    const { rail } = operators(t, book)
    const { reference } = request('disbursement', mobile('1234'))
    t.same(await rail.resolve(reference, { state: 'succeeded' }), { state: 'succeeded' })
    t.same(await rail.resolve(reference, declined), { state: 'succeeded' }, 'how it had ended')
    t.same(await rail.status(reference), { state: 'succeeded' })
    t.same(await rail.resolve(reference, { state: 'returned' }), { state: 'returned' })
    t.same(await rail.status(reference), { state: 'returned' })
    await t.rejects(rail.resolve(reference, { state: 'pending' }), TypeError)
  })

  t.test('who ends one operation at the same moment is told how it has ended', async (t) => {
    const { rail } = operators(t, book)
    const each = request('disbursement', mobile('1234'))
    await rail.submit(each)
    const results = [declined, { state: 'succeeded' }, declined] as const
    const ended = await Promise.all(results.map((result) => rail.resolve(each.reference, result)))
    t.same(ended, [ended[0], ended[0], ended[0]])
    t.same(await rail.status(each.reference), ended[0])
  })

  t.test('what is resolved before it is submitted is not carried out again', async (t) => {
    const { rail } = operators(t, book)
    const each = request('disbursement', account('1234'))
    await rail.resolve(each.reference, { state: 'succeeded' })
    t.same(await rail.submit(each), { state: 'succeeded' })
    const { merchant } = each
    t.match(await booked(pool, each.reference), { calls: 1, executions: 1, amount: 5_000, merchant })
  })

  t.test('an answer that gets lost leaves the operation carried out', async (t) => {
    const { rail } = operators(t, book, { answerLate: ({ kind }) => kind === 'disbursement' })
    const each = request('disbursement', account('1234'))
    await t.rejects(rail.submit(each), RailTimeoutError)
    t.same(await rail.status(each.reference), { state: 'succeeded' })
    t.same(await rail.submit(request('collection', card('tok_instant'))), { state: 'succeeded' })
  })

  t.test('the delays can be shortened', async (t) => {
    const { rail } = operators(t, book, { delaysMs: { soon: 0 } })
    const each = request('disbursement', mobile('0001'))
    await rail.submit(each)
    t.same(await rail.status(each.reference), { state: 'succeeded' })
  })

  t.test('the operators remember what they were told when we start again', async (t) => {
    const each = request('disbursement', mobile('0001'))
    await operators(t, book).rail.submit(each)
    const { rail, pass, listen, callbacks } = operators(t, book)
    pass(2 * second)
    listen()
    await until(() => callbacks.length > 0)
    t.match(callbacks, [{ reference: each.reference, result: { state: 'succeeded' } }])
    t.same(await rail.status(each.reference), { state: 'succeeded' })
  })

  t.test('a book that cannot be reached is an operator that does not answer', async (t) => {
    await pool.query('alter table sandbox_operations rename to gone')
    t.teardown(() => pool.query('alter table gone rename to sandbox_operations'))
    const { rail } = operators(t, book)
    await t.rejects(rail.submit(request('disbursement', account('1234'))), RailTimeoutError)
    await t.rejects(rail.status(randomUUID()), RailTimeoutError)
  })
})

t.test('an operator whose answer comes late is one that does not answer', async (t) => {
  const silent = createServer(() => undefined).listen(0, '127.0.0.1')
  await once(silent, 'listening')
  t.teardown(() => silent.close().closeAllConnections())
  const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`
  const apart = new HttpSandboxBook({ url, timeoutMs: 50 })
  t.teardown(() => apart.close())
  const { rail } = operators(t, apart)
  await t.rejects(rail.submit(request('disbursement', account('1234'))), RailTimeoutError)
  await t.rejects(rail.status(randomUUID()), RailTimeoutError)
})
t.test('what is no call is refused with a sentence that names the field', async (t) => {
  const { pool } = await testDatabase(t)
  const { url } = await serverOf(t, pool)
  const ask = async (path: string, body: string) => {
    const response = await fetch(url + path, { method: 'POST', body })
    return { status: response.status, body: await response.json() }
  }
  t.match(await ask('/find', '{"reference":7}'), {
    status: 400,
    body: { error: '/reference: Expected string' },
  })
  t.match(await ask('/find', '{'), { status: 400, body: { error: 'the body is not JSON' } })
  t.match(await ask('/erase', '{}'), { status: 404, body: { error: /^POST one of submit, / } })
  await pool.query('drop table sandbox_operations')
  t.match(await ask('/find', '{"reference":"a"}'), { status: 503 })
})
