import t from 'tap'
import { publications } from '../../infra/postgres/read-models/publication.ts'
import { identity } from '../../packages/contract/identity.ts'
import { bookId } from '../../packages/domain/ledger/accounts.ts'
import { book } from '../../packages/domain/ledger/book.ts'
import { readState } from '../../packages/kernel/history.ts'
import { startApi } from '../../services/api/main.ts'
import { openRuntime } from '../../services/composition/dependencies.ts'
import { eventually } from '../support/eventually.ts'
import { lawOver } from '../support/law.ts'
import {
  card,
  intentsPath,
  orange,
  startPayments,
  type Body,
  type Payments,
} from '../support/payments/payments.ts'

let payments: Payments

t.before(async () => {
  payments = await startPayments(t)
})

function reaching(intent: Body, status: string): Promise<Body> {
  return eventually(
    () => payments.shown(intent),
    (body) => body['status'] === status,
  )
}

t.test('mobile money waits for the payer, and the operator ends it', async (t) => {
  const intent = await payments.create()
  const confirmed = await payments.confirm(intent)
  t.match(confirmed, {
    status: 200,
    body: {
      status: 'processing',
      payment_method_type: 'mobile_money',
      operation_id: /^op_[0-9a-f]{32}$/,
      next_action: { type: 'mobile_money_ussd', mobile_money_ussd: { message: String } },
    },
  })
  const again = await payments.confirm(intent)
  t.strictSame(again.body, confirmed.body, 'confirming again answers the same object')
  t.match(await payments.play(intent, 'succeeded'), {
    status: 200,
    body: { status: 'succeeded', next_action: null },
  })
  t.match(await payments.play(intent, 'failed'), { status: 409, body: { code: 'IKW-TRANSFER-003' } })
  const cancel = await payments.cancel(intent)
  t.match(cancel, { status: 409, body: { code: 'IKW-TRANSFER-003', retryable: false } })
})

t.test('a payment that the operator refuses fails with a code of ours', async (t) => {
  const intent = await payments.create()
  await payments.confirm(intent)
  const failed = await payments.play(intent, 'failed', { failure_reason: 'insufficient_funds' })
  t.match(failed.body, { status: 'failed', failure_code: 'insufficient_funds', failure_message: String })
  const odd = await payments.create()
  await payments.confirm(odd)
  t.match((await payments.play(odd, 'failed', { failure_reason: 'E-4711' })).body, {
    failure_code: 'processing_error',
  })
})

t.test('the simulated operators answer by themselves', async (t) => {
  const [soon, poor, declined] = await Promise.all([payments.create(), payments.create(), payments.create()])
  await Promise.all([payments.confirm(soon, orange('0001')), payments.confirm(poor, orange('0002'))])
  const refused = await payments.confirm(declined, card('tok_declined'))
  t.match(refused.body, { status: 'failed', failure_code: 'card_declined' })
  t.match(await reaching(soon, 'succeeded'), { failure_code: null })
  t.match(await reaching(poor, 'failed'), { failure_code: 'insufficient_funds' })
})

t.test('a provider that takes nothing leaves the intent to be confirmed again', async (t) => {
  const intent = await payments.create()
  t.match(await payments.confirm(intent, orange('0006')), {
    status: 502,
    body: { code: 'IKW-TRANSFER-006', retryable: true },
  })
  t.match(await payments.shown(intent), {
    status: 'requires_payment_method',
    operation_id: null,
    payment_method_type: null,
  })
  t.match(await payments.confirm(intent), { status: 200, body: { status: 'processing' } })
})

t.test('a method that does not fit the intent is refused', async (t) => {
  const intent = await payments.create()
  const { mobile_money } = orange().payment_method
  const by = (change: object) => ({
    payment_method: { type: 'mobile_money', mobile_money: { ...mobile_money, ...change } },
  })
  t.match(await payments.confirm(intent, by({ country: 'CI' })), {
    status: 400,
    body: { code: 'IKW-TRANSFER-008', param: '/payment_method/mobile_money/country' },
  })
  t.match(await payments.confirm(intent, by({ operator: 'mtn' })), {
    status: 400,
    body: { code: 'IKW-TRANSFER-002' },
  })
  t.match(await payments.confirm(intent, { payment_method: { type: 'card' } }), {
    status: 400,
    body: { code: 'IKW-TRANSFER-002', param: '/payment_method/card' },
  })
  t.match(await payments.confirm(intent, card('tok_ok', { return_url: 'javascript:alert(1)' })), {
    status: 400,
    body: { code: 'IKW-REQ-001', param: '/return_url' },
  })
  t.match(await payments.shown(intent), { status: 'requires_payment_method' })
})

t.test('a redirected payer is sent back to the return URL with the outcome', async (t) => {
  const intent = await payments.create()
  const return_url = 'https://shop.example/thanks?cart=7'
  const confirmed = await payments.confirm(intent, card('tok_3ds', { return_url }))
  t.match(confirmed.body, {
    status: 'requires_action',
    next_action: { type: 'redirect_to_url', redirect_to_url: { url: /^http/, return_url } },
  })
  const operation = String(confirmed.body['operation_id'])
  const open = await payments.get(`/operations/status/${operation}`, { key: '' })
  t.match(open.body, {
    id: operation,
    object: 'operation',
    type: 'payment',
    status: 'pending',
    redirect_url: /^http/,
  })
  await payments.play(intent, 'succeeded')
  const done = await payments.get(`/operations/status/${operation}`, { key: '' })
  t.match(done.body, { status: 'succeeded', resource: { object: 'payment_intent', id: intent['id'] } })
  const back = new URL(String(done.body['redirect_url']))
  t.strictSame(Object.fromEntries(back.searchParams), {
    cart: '7',
    status: 'succeeded',
    payment_intent: intent['id'],
    operation_id: operation,
  })
  const page = await payments.get<string>(`/operations/status/${operation}`, {
    key: '',
    headers: { accept: 'text/html' },
  })
  t.match(page.headers.get('content-type'), /text\/html/)
  t.match(
    page.body,
    /http-equiv="refresh" content="0;url=https:\/\/shop\.example\/thanks\?cart=7&amp;status=succeeded/,
  )
  t.match(await payments.get(`/operations/status/op_${'0'.repeat(32)}`, { key: '' }), { status: 404 })
})

t.test('a payer without a return URL stays on our status page', async (t) => {
  const intent = await payments.create()
  const { body } = await payments.confirm(intent, card('tok_3ds'))
  t.match(body['next_action'], {
    redirect_to_url: { return_url: new RegExp(`/operations/status/${String(body['operation_id'])}$`) },
  })
  const canceled = await payments.cancel(intent)
  t.match(canceled, { status: 200, body: { status: 'canceled', canceled_at: String, next_action: null } })
  t.strictSame((await payments.cancel(intent)).body, canceled.body)
  const operation = await payments.get(`/operations/status/${String(body['operation_id'])}`, { key: '' })
  t.match(operation.body, { status: 'canceled', redirect_url: null })
})

t.test('how a payment stands is told without waiting for the read model', async (t) => {
  const intent = await payments.create()
  const { body } = await payments.confirm(intent, card('tok_3ds'))
  const path = `/operations/status/${String(body['operation_id'])}`
  t.match((await payments.get(path, { key: '' })).body, { status: 'pending' })
  const { pool } = payments.service.runtime.postgres
  const { version, generation } = (await publications(pool)).get('operations')!
  const keeper = await pool.connect()
  t.teardown(() => keeper.release(true))
  await keeper.query(`begin; lock table read.operations_v${version}_${generation} in exclusive mode`)
  await payments.play(intent, 'succeeded')
  t.match((await payments.get(path, { key: '' })).body, { status: 'succeeded' })
  await keeper.query('rollback')
})

t.test('money that arrives after the cancel is given back to the payer', async (t) => {
  const intent = await payments.create()
  const mobile_money = { country: 'SN', operator: 'wave', msisdn: '+221770000001' }
  t.match((await payments.confirm(intent, { payment_method: { type: 'mobile_money', mobile_money } })).body, {
    status: 'requires_action',
  })
  t.match(await payments.cancel(intent), {
    status: 200,
    body: { status: 'canceled' },
  })
  const timeline = () => payments.get<{ data: Body[] }>(`${intentsPath}/${String(intent['id'])}/timeline`)
  const told = await eventually(timeline, ({ body }) => body.data[0]?.['type'] === 'late_payment_refunded')
  t.match(told.body.data, [{ status: 'canceled' }, { type: 'paid_late', status: 'canceled' }])
  t.match(await payments.shown(intent), { status: 'canceled' })
  const { runtime, credentials } = payments.service
  const state = await eventually(
    () => readState(runtime.dependencies.store, book, bookId(credentials.merchant_id, false, 'XOF')),
    ({ balances }) => !balances['suspense.unmatched'],
  )
  t.notOk(state.balances['provider:mobile_money.SN.wave'], 'the operator has it no more')
})

t.test('of 200 confirmations at once over two processes, one reaches the provider', async (t) => {
  const { configuration, postgres } = payments.service.runtime
  const runtime = await openRuntime({ ...configuration, port: 0 })
  const other = await startApi({ runtime })
  t.teardown(async () => {
    await other.close()
    await runtime.close()
  })
  const intent = await payments.create()
  const path = `${intentsPath}/${String(intent['id'])}/confirm`
  const urls = [payments.url, `http://127.0.0.1:${other.port}`]
  const answers = await Promise.all(
    Array.from({ length: 200 }, async (_, index) => {
      const response = await fetch(`${urls[index % 2]}${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${payments.sandboxKey}`, 'content-type': 'application/json' },
        body: JSON.stringify(orange()),
      })
      return { status: response.status, body: (await response.json()) as Body }
    }),
  )
  const final = await payments.shown(intent)
  await lawOver(t, answers, ({ status, body }) => {
    if (status === 200) t.equal(body['operation_id'], final['operation_id'])
    else
      t.match(
        { status, body },
        {
          status: 409,
          body: { code: 'IKW-RES-003', retryable: true, message: lockMessage },
        },
      )
  })
  const operation = identity(String(final['operation_id']), 'op')
  const calls = 'select calls from sandbox_operations where reference = $1'
  const { rows } = await postgres.pool.query(calls, [operation])
  t.strictSame(rows, [{ calls: 1 }])
  const timeline = await payments.get<{ data: Body[] }>(`${intentsPath}/${String(intent['id'])}/timeline`)
  t.equal(timeline.body.data.filter(({ type }) => type === 'confirmation_started').length, 1)
})

const lockMessage = 'Payment intent confirmation is already in progress'
