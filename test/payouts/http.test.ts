import t, { type Test } from 'tap'
import { identity } from '../../packages/contract/identity.ts'
import { bookId } from '../../packages/domain/ledger/accounts.ts'
import { book } from '../../packages/domain/ledger/book.ts'
import { balances } from '../../packages/domain/ledger/state.ts'
import { readState } from '../../packages/kernel/history.ts'
import { eventually } from '../support/eventually.ts'
import { startService, type Answer, type TestService } from '../support/service.ts'

type Body = Record<string, unknown>

const wave = { type: 'mobile_money', country: 'SN', operator: 'wave', msisdn: '+221770000000' }
const bank = { type: 'bank', bank_code: 'SN010', account_number: '0012345678', account_name: 'Awa Diop' }
const nobody = '0190a1b2-0000-7000-8000-000000000001'
const order = { amount: 5_000, currency: 'XOF', destination: wave }

let service: TestService

/** Nested tests share one service, so each looks only at what it has made itself. */
t.before(async () => {
  service = await startService(t)
})

function ending(digits: string) {
  return { ...order, destination: { ...wave, msisdn: `+22177000${digits}` } }
}

async function shown(id: unknown): Promise<Body> {
  return (await service.get(`/api/v1/payouts/${String(id)}`)).body
}

async function create(body: object): Promise<Body> {
  const answer = await service.post('/api/v1/payouts', body)
  if (answer.status !== 201) throw new Error(JSON.stringify(answer.body))
  return answer.body
}

function reaching(id: unknown, status: string): Promise<Body> {
  return eventually(
    () => shown(id),
    (body) => body['status'] === status,
  )
}

function play(id: unknown, status: string, more: object = {}) {
  return service.post('/api/test/payouts/callback', { payout_id: id, status, ...more })
}

async function money() {
  const { runtime, credentials } = service.service
  return balances(
    await readState(runtime.dependencies.store, book, bookId(credentials.merchant_id, false, 'XOF')),
  )
}

function nothingReserved() {
  return eventually(money, ({ reserved }) => reserved === 0)
}

function refused(t: Test, { status, body }: Answer, [expected, code]: readonly [number, string]): void {
  t.match({ status, body }, { status: expected, body: { code: `IKW-${code}`, retryable: false } })
}

t.test('a payout is created, sent to the operator and paid, and costs its amount and its fee', async (t) => {
  const before = await nothingReserved()
  const metadata = { order: '7' }
  const created = await service.post('/api/v1/payouts', { ...order, currency: 'xof', metadata })
  t.equal(created.status, 201)
  t.equal(created.headers.get('location'), `/api/v1/payouts/${String(created.body['id'])}`)
  t.match(created.body, { status: 'pending', amount: 5_000, currency: 'XOF', fee: 50, metadata })
  const { id } = created.body
  await reaching(id, 'in_transit')
  t.strictSame(await money(), { ...before, available: before.available - 5_050, reserved: 5_050 })
  t.match(await play(id, 'paid'), { status: 200, body: { id, status: 'paid', delay_state: null } })
  t.strictSame(await nothingReserved(), { ...before, available: before.available - 5_050 })
  t.match(await play(id, 'paid'), { status: 200, body: { status: 'paid' } }, 'said again')
  refused(t, await play(id, 'failed'), [409, 'RES-002'])
})

t.test('a payout that the operator refuses gives back its amount and its fee', async (t) => {
  const before = await nothingReserved()
  const { id } = await create(order)
  const failure = { failure_code: 'account_closed', failure_message: 'The wallet is closed' }
  t.match((await play(id, 'failed', failure)).body, { status: 'failed', ...failure })
  t.strictSame(await nothingReserved(), before)
  refused(t, await play(id, 'paid'), [409, 'RES-002'])
})

t.test('the simulated operators pay and refuse by themselves', async (t) => {
  const [soon, unknown] = await Promise.all([create(ending('0001')), create(ending('0002'))])
  t.match(await reaching(soon['id'], 'paid'), { failure_code: null })
  t.match(await reaching(unknown['id'], 'failed'), { failure_code: 'recipient_not_found' })
})

t.test('an inline bank payout of the sandbox is paid at once by the payout engine', async (t) => {
  const { id, destination, fee } = await create({ ...order, destination: bank, metadata: { source: 'mine' } })
  t.strictSame(destination, { ...bank, currency: 'XOF' })
  t.equal(fee, 500)
  const metadata = { source: 'payout_engine', environment: 'sandbox' }
  t.match(await reaching(id, 'paid'), { metadata, delayed_at: null })
})

t.test('a payout that breaks a rule is refused and holds nothing', async (t) => {
  const before = await nothingReserved()
  const to = (changes: object) => ({ ...order, destination: { ...wave, ...changes } })
  const cases: readonly (readonly [string, number, string | undefined, object])[] = [
    ['IKW-REQ-001', 400, '/amount', { ...order, amount: 0 }],
    ['IKW-REQ-001', 400, '/currency', { amount: 5_000, destination: wave }],
    ['IKW-PAYOUT-001', 400, '/destination', { amount: 5_000, currency: 'XOF' }],
    ['IKW-PAYOUT-001', 400, '/destination', { amount: 5_000, currency: 'XOF', destination: null }],
    ['IKW-PAYOUT-001', 400, '/payout_method_id', { ...order, payout_method_id: nobody }],
    ['IKW-PAYOUT-001', 400, '/destination/msisdn', to({ msisdn: '+22177000' })],
    ['IKW-PAYOUT-001', 400, '/destination/currency', to({ currency: 'XAF' })],
    ['IKW-PAYOUT-001', 400, '/currency', { ...order, currency: 'XAF' }],
    ['IKW-PAYOUT-001', 400, '/destination/bank_code', to({ bank_code: 'SN010' })],
    ['IKW-PAYOUT-002', 400, '/destination/operator', to({ operator: 'mtn' })],
    ['IKW-PAYOUT-004', 400, '/destination/operator', to({ operator: 'free_money' })],
    ['IKW-PAYOUT-009', 400, '/amount', { ...order, amount: 99 }],
    ['IKW-PAYOUT-003', 402, undefined, { ...order, amount: 1_999_999 }],
    ['IKW-REQ-001', 400, '/metadata/order', { ...order, metadata: { order: 7 } }],
  ]
  for (const [code, status, param, body] of cases) {
    const answer = await service.post('/api/v1/payouts', body)
    const expected = { code, retryable: false, ...(param && { param }) }
    t.match(answer, { status, body: expected }, `${code} at ${param ?? 'the whole'}`)
  }
  const unknown = { amount: 5_000, currency: 'XOF', payout_method_id: nobody }
  refused(t, await service.post('/api/v1/payouts', unknown), [400, 'PAYOUT-001'])
  t.strictSame(await money(), before)
})

t.test('the same key twice is one payout, another request with it is refused', async (t) => {
  const before = await nothingReserved()
  const headers = { 'idempotency-key': 'payout-7' }
  const first = await service.post('/api/v1/payouts', order, { headers })
  await reaching(first.body['id'], 'in_transit')
  const second = await service.post('/api/v1/payouts', order, { headers })
  t.strictSame([second.status, second.body], [201, first.body])
  t.equal(second.headers.get('idempotent-replayed'), 'true')
  const other = await service.post('/api/v1/payouts', { ...order, amount: 6_000 }, { headers })
  refused(t, other, [409, 'REQ-003'])
  t.equal((await money()).reserved, 5_050)
  await play(first.body['id'], 'failed')
  t.strictSame(await nothingReserved(), before)
})

t.test('many payouts at once never spend more than is available', async (t) => {
  const before = await nothingReserved()
  const amount = 200_000
  const affordable = Math.floor(before.available / (amount + 2_000))
  const ask = () => service.post('/api/v1/payouts', { ...order, amount })
  const answers = await Promise.all(Array.from({ length: affordable + 5 }, ask))
  const created = answers.filter(({ status }) => status === 201)
  t.equal(created.length, affordable)
  t.equal(answers.filter(({ status }) => status === 402).length, 5)
  await Promise.all(created.map(({ body }) => play(body['id'], 'failed')))
  t.strictSame(await nothingReserved(), before)
})

t.test('the environment header is required on the two payout operations', async (t) => {
  const headers = { authorization: `Bearer ${service.sandboxKey}`, 'content-type': 'application/json' }
  const bare = (path: string, body?: object) =>
    fetch(service.url + path, { headers, ...(body && { method: 'POST', body: JSON.stringify(body) }) })
  for (const answer of [await bare('/api/v1/payouts', order), await bare('/api/v1/payouts/po_1')]) {
    t.match(await answer.json(), { status: 400, code: 'IKW-REQ-005' })
  }
  t.equal((await bare('/api/v1/merchant/payouts')).status, 200)
})

t.test('in live a payout needs a key, money, and nobody can play the operator', async (t) => {
  const { dependencies } = service.service.runtime
  const merchant = service.service.credentials.merchant_id
  const key = service.liveKey
  const headers = { 'idempotency-key': 'live-1' }
  refused(t, await service.post('/api/v1/payouts', order, { key }), [400, 'REQ-002'])
  refused(t, await service.post('/api/v1/merchant/payouts', order, { key }), [400, 'REQ-002'])
  refused(t, await service.post('/api/v1/payouts', order, { key, headers }), [402, 'PAYOUT-003'])
  const subject = { type: 'payment', id: dependencies.newId() }
  const income = { template: 'payment.succeeded', subject, amount: 10_000, fee: 0, rail: 'card' } as const
  await dependencies.executor.send(
    book,
    bookId(merchant, true, 'XOF'),
    { type: 'PostEntry', data: income },
    { merchant, livemode: true, actor: 'cli', correlation: 'test' },
  )
  const created = await service.post('/api/v1/payouts', order, { key, headers })
  t.match(created, { status: 201, body: { livemode: true } })
  const { id } = created.body
  t.equal((await service.get(`/api/v1/payouts/${String(id)}`, { key })).status, 200)
  t.equal((await service.get(`/api/v1/payouts/${String(id)}`)).status, 404, 'another environment')
  const callback = { payout_id: id, status: 'paid' }
  refused(t, await service.post('/api/test/payouts/callback', callback, { key }), [404, 'RES-001'])
  refused(t, await service.post('/api/test/payouts/callback', callback), [404, 'RES-001'])
})

interface Page {
  readonly data: readonly Body[]
  readonly total_count: number
}

t.test('payouts are listed newest first, by page, status, currency and time', async (t) => {
  const [first, second] = [await create(order), await create(order)]
  await play(first['id'], 'failed')
  const listed = (query: string) => service.get<Page>(`/api/v1/merchant/payouts?${query}`)
  const { body: all } = await listed('limit=2')
  t.strictSame(
    all.data.map(({ id }) => id),
    [second['id'], first['id']],
  )
  const { body: page } = await listed('limit=1&page=2')
  t.match(page, { page: 2, data: [{ id: first['id'], status: 'failed' }] })
  const { body: failed } = await listed('status=failed&limit=100&currency=xof')
  t.ok(failed.data.length > 0 && failed.data.every(({ status }) => status === 'failed'))
  t.equal((await listed('currency=EUR')).body.total_count, 0)
  t.equal((await listed('to=2020-01-01T00:00:00.000Z')).body.total_count, 0)
  t.equal((await listed('from=2020-01-01T00:00:00.000Z')).body.total_count, all.total_count)
  t.equal((await listed('status=lost')).status, 400)
  const one = await service.get(`/api/v1/merchant/payouts/${String(second['id'])}`)
  t.equal(one.body['id'], second['id'])
  await play(second['id'], 'failed')
})

t.test('a saved destination is used by its id or as the default, and is gone when removed', async (t) => {
  const settings = '/api/v1/merchant/settings/payouts'
  const unnamed = { amount: 1_000, currency: 'XOF' }
  const initial = { object: 'payout_settings', frequency: 'manual', destinations: [] }
  t.match(await service.get(settings), { status: 200, body: initial })
  refused(t, await service.post('/api/v1/merchant/payouts', unnamed), [400, 'PAYOUT-001'])
  const till = { ...wave, operator: 'Wave', label: 'Till', is_default: true }
  const saved = await service.post(`${settings}/destinations`, till)
  const { id } = saved.body
  const resource = { ...till, object: 'payout_destination', operator: 'wave', currency: 'XOF' }
  t.match(saved, { status: 201, body: resource })
  refused(t, await service.post(`${settings}/destinations`, wave), [409, 'RES-004'])
  t.match((await service.get(settings)).body, {
    default_destination_id: id,
    destinations: [{ id, msisdn: '****0000', is_default: true }],
  })
  const payouts = [
    await service.post('/api/v1/merchant/payouts', unnamed),
    await service.post('/api/v1/payouts', { ...unnamed, payout_method_id: id }),
  ]
  for (const { status, body } of payouts) {
    t.equal(status, 201)
    t.match(body, { payout_method_id: id, destination: { msisdn: wave.msisdn } })
    await play(body['id'], 'failed')
  }
  const remove = () => service.call('DELETE', `${settings}/destinations/${String(id)}`)
  t.match(await remove(), { status: 200, body: { id, object: 'payout_destination', deleted: true } })
  t.equal((await remove()).status, 404)
  t.match((await service.get(settings)).body, { default_destination_id: null, destinations: [] })
  refused(t, await service.post('/api/v1/payouts', { ...unnamed, payout_method_id: id }), [403, 'PAYOUT-006'])
  t.equal((await service.post(`${settings}/destinations`, wave)).body['id'], id, 'and can be saved again')
})

t.test('a destination of live waits for its safety delay', async (t) => {
  const key = service.liveKey
  const destinations = '/api/v1/merchant/settings/payouts/destinations'
  const saved = await service.post(destinations, bank, { key })
  t.match(saved.body, { livemode: true, currency: null, account_number: bank.account_number })
  const request = { amount: 1_000, currency: 'XOF', payout_method_id: saved.body['id'] }
  const headers = { 'idempotency-key': 'early' }
  refused(t, await service.post('/api/v1/payouts', request, { key, headers }), [403, 'PAYOUT-005'])
  refused(t, await service.post('/api/v1/payouts', request), [400, 'PAYOUT-001'])
})

t.test('settings are revised field by field, and the default must be an active destination', async (t) => {
  const settings = '/api/v1/merchant/settings/payouts'
  const revise = (body: object) => service.call('PATCH', settings, body)
  const minimum = { keep_minimum_balance: true, minimum_balance: 1_000 }
  t.match((await revise(minimum)).body, { ...minimum, frequency: 'manual' })
  t.match((await revise({ frequency: 'Weekly' })).body, { ...minimum, frequency: 'weekly' })
  t.equal((await revise({ frequency: 'manual' })).status, 200)
  refused(t, await revise({ default_destination_id: nobody }), [400, 'PAYOUT-001'])
  const ofLive = { key: service.liveKey }
  const elsewhere = await service.post(
    `${settings}/destinations`,
    { ...wave, msisdn: '+221770000099' },
    ofLive,
  )
  t.equal(elsewhere.status, 201)
  refused(t, await revise({ default_destination_id: elsewhere.body['id'] }), [400, 'PAYOUT-001'])
  refused(t, await revise({ minimum_balance: -1 }), [400, 'REQ-001'])
})

t.test('an id that is no payout is not found', async (t) => {
  t.equal(identity('po_1', 'po'), undefined)
  for (const id of ['po_1', 'po_0190a1b2000070008000000000000001', 'pi_0190a1b2000070008000000000000001']) {
    t.equal((await service.get(`/api/v1/payouts/${id}`)).status, 404)
  }
})
