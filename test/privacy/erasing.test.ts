import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import t from 'tap'
import { identity } from '../../packages/contract/identity.ts'
import { rebuildModels } from '../../services/cli/projections.ts'
import { erase, type Erased, type Erasing } from '../../services/privacy/erase.ts'
import { contactOf } from '../../services/privacy/person.ts'
import { ikw, jsonOf, settingsOf, type Run } from '../support/cli.ts'
import { createCustomer, subscribe } from '../support/commerce/billing.ts'
import { answerPayment, byPhone, openSession } from '../support/commerce/checkout.ts'
import { eventually } from '../support/eventually.ts'
import { startPayments, type Body, type Payments } from '../support/payments/payments.ts'
import { temporaryDirectory } from '../support/postgres.ts'
import { receiver } from '../support/webhooks.ts'

const phone = '+221770008642'
const awa = 'Awa Ndiaye-Forgotten'
const email = 'awa.forgotten@example.com'
const secret = 'ring twice, ask for Awa'
const forgotten = [phone, phone.slice(1), awa, email, secret, 'red shawl for Awa']

const another = { customer_email: 'ibra@example.com', customer_phone: '+221770008643' }
const told = ['ibra@example.com', '+221770008643', 'a drum for Ibra']

let service: Payments
let shop: Awaited<ReturnType<typeof receiver>>
const keyed = (key: string) => ({ headers: { 'idempotency-key': key } })

t.before(async () => {
  service = await startPayments(t, { keysFreshMs: 100 })
  shop = await receiver(t)
  await service.post('/api/v1/webhook-endpoints', { url: `${shop.url}/shop`, enabled_events: ['*'] })
})

function run(...parameters: readonly string[]): Promise<Run> {
  return ikw(settingsOf(service), ...parameters)
}

function eraseBy(name: string, who: string, ...more: readonly string[]): Promise<Run> {
  return run('privacy', 'erase', who, ...more, '--by', name, '--reason', 'Asked for it by mail')
}

async function paid(change: object, number: string): Promise<Body> {
  const intent = await service.create(change)
  const mobile_money = { country: 'SN', operator: 'orange_money', msisdn: number }
  await service.confirm(intent, { payment_method: { type: 'mobile_money', mobile_money } })
  await service.play(intent, 'succeeded')
  return intent
}

/** Somebody who pays on a page of ours, and says there who it is. */
async function paidByPage(number: string): Promise<string> {
  const order = { amount: 5_000, currency: 'XOF', country: 'SN', metadata: { note: secret } }
  const { id } = await openSession(service, order)
  const mobile_money = { country: 'SN', operator: 'orange_money', msisdn: number }
  const wish = { ...byPhone(mobile_money), collected: { name: awa, email, phone: number } }
  const { body } = await service.post(`/api/checkout/${id}/pay`, wish, { key: '' })
  await answerPayment(service, body['payment_intent'])
  return id
}

function wave(msisdn: string) {
  return { type: 'mobile_money', country: 'SN', operator: 'wave', msisdn }
}

async function payout(number: string, key: string, more: object = {}): Promise<string> {
  const request = { amount: 500, currency: 'XOF', destination: wave(number), ...more }
  const { body, status } = await service.post('/api/v1/payouts', request, keyed(key))
  if (status >= 300) throw new Error(JSON.stringify(body))
  return String(body['id'])
}

async function end(payout: string): Promise<void> {
  const callback = { payout_id: payout, status: 'paid' }
  const { body, status } = await service.post('/api/test/payouts/callback', callback)
  if (status !== 200) throw new Error(`${payout} is answered ${status} ${JSON.stringify(body)}`)
}

/** Every row of every table, as text. */
async function dump(): Promise<string> {
  const { pool } = service.service.runtime.postgres
  const { rows } = await pool.query<{ name: string }>(
    `select format('%I.%I', schemaname, tablename) as name from pg_tables
     where schemaname not in ('pg_catalog', 'information_schema')`,
  )
  const texts = rows.map(({ name }) => pool.query<{ row: string }>(`select t::text as row from ${name} t`))
  return (await Promise.all(texts)).flatMap((table) => table.rows.map(({ row }) => row)).join('\n')
}

/** All files of a directory, unpacked. */
function bytesIn(directory: string): string {
  const files = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((one) => one.isFile())
  return files
    .map(({ parentPath, name }) => {
      const bytes = readFileSync(join(parentPath, name))
      return (name.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('latin1')
    })
    .join('\n')
}

/** What of it stands in a text, also where PostgreSQL shows bytes in hexadecimal. */
function foundIn(text: string, values: readonly string[] = forgotten): readonly string[] {
  const forms = (['utf8', 'latin1', 'hex'] as const).map((form) => {
    return (value: string) => text.includes(Buffer.from(value).toString(form))
  })
  return values.filter((value) => forms.some((stands) => stands(value)))
}

const reads = [
  '/api/v1/payment-intents',
  '/api/v1/merchant/payments',
  '/api/v1/merchant/customers',
  `/api/v1/merchant/customers?search=forgotten`,
  '/api/v1/events',
]

async function allShown(ids: readonly string[]): Promise<string> {
  const answers = [...reads, ...ids].map(async (path) => JSON.stringify((await service.get(path)).body))
  return (await Promise.all(answers)).join('\n')
}

t.test('somebody who is erased is found nowhere, and the log still proves itself', async (t) => {
  const profile = { customer_email: email, customer_phone: phone }
  const about = { description: 'red shawl for Awa', metadata: { note: secret, order: '1042' } }
  const intent = await paid({ ...profile, ...about }, phone)
  const others = await paid({ ...another, description: 'a drum for Ibra' }, '+221770008643')
  const payment = `/api/v1/payment-intents/${String(intent['id'])}`
  await service.call('PATCH', payment, { description: `for ${awa}` })
  const refunded = await service.post(
    `/api/v1/merchant/payments/${String(intent['id'])}/refund`,
    { amount: 100 },
    keyed('back'),
  )
  const session = await paidByPage(phone)
  const paidOut = await payout(phone, 'out', { metadata: { who: awa } })
  const customer = String(intent['customer'])
  const customers = `/api/v1/merchant/customers/${customer}`
  const resources = [
    ...[payment, customers, `/api/v1/payouts/${paidOut}`, `/api/v1/payouts/${paidOut}/history`],
    ...[`/api/v1/checkout/sessions/${session}`, `/api/checkout/${session}/receipt`],
  ]

  t.match(await eraseBy('awa', customer), { code: 2, stderr: /Nothing was erased: .*is on its way/ })
  t.ok(foundIn(await allShown(resources)).length >= 5, 'a refusal has erased nothing')
  await end(paidOut)
  const refund = `/api/v1/merchant/refunds/${String(refunded.body['id'])}`
  await eventually(
    () => service.get(refund),
    ({ body }) => body['status'] === 'succeeded',
  )
  const isTold = () => shop.received.some(({ body }) => body.includes('payout.paid'))
  await eventually(async () => isTold(), Boolean)
  const receipt = await eventually(
    () => service.get(`/api/v1/audit/receipts/${paidOut}`),
    ({ status }) => status === 200,
  )
  const exported = await run('privacy', 'export', customer)
  t.strictSame(foundIn(exported.stdout), forgotten.slice(0, 1).concat(forgotten.slice(1)))
  t.strictSame(foundIn(exported.stdout, told), [], 'and nothing of others')

  const erased = await eraseBy('awa', customer, '--json')
  t.strictSame(jsonOf<Erased>(erased).left, [])
  t.match(jsonOf(erased), { clear: 0 })
  t.equal(erased.code, 0)

  t.strictSame(foundIn(await dump()), [], 'tables')
  t.strictSame(foundIn(await dump(), told.slice(2)), told.slice(2), 'of others nothing is erased')
  t.strictSame(foundIn(bytesIn(service.service.runtime.configuration.dataDirectory)), [], 'files')
  t.strictSame(foundIn(await allShown([...resources, refund])), [], 'the API')
  t.match((await service.get(payment)).body, { description: '[erased]', metadata: { erased: '[erased]' } })
  t.match((await service.get(customers)).body, { email: '[erased]', phone: '[erased]' })
  const { payer } = (await service.get(`/api/checkout/${session}/receipt`)).body
  t.strictSame(payer, { name: '[erased]', email: '[erased]', phone: '[erased]' })
  t.match((await service.get(`/api/v1/payment-intents/${String(others['id'])}`)).body, {
    description: 'a drum for Ibra',
  })
  const repeated = await payout(phone, 'out', { metadata: { who: awa } })
  t.equal(repeated, paidOut, 'a repeat of a key is still known')
  const events = await service.get<{ data: Body[] }>(`/api/v1/events?limit=100`)
  const before = shop.received.length
  await service.post('/api/v1/webhook-replays', {
    webhook_endpoint_id: (await service.get<{ data: Body[] }>('/api/v1/webhook-endpoints')).body.data[0]![
      'id'
    ],
    event_id: events.body.data.find(({ type }) => type === 'payout.paid')!['id'],
  })
  await eventually(
    async () => shop.received.length,
    (count) => count > before,
  )
  t.strictSame(
    foundIn(
      shop.received
        .slice(before)
        .map(({ body }) => body)
        .join(),
    ),
    [],
    'webhooks sent again',
  )

  const backup = join(temporaryDirectory(t), 'backup')
  t.equal((await run('backup', backup)).code, 0)
  t.strictSame(foundIn(bytesIn(backup)), [], 'a backup')
  t.equal((await run('audit', 'verify', backup)).code, 0, 'the log proves itself')
  t.equal((await run('ledger', 'replay')).code, 0, 'the read models are those of the log')
  const later = await service.get<Body>(`/api/v1/audit/receipts/${paidOut}`)
  const event = ({ body }: typeof later) => ({ ...(body['event'] as Body) })
  t.strictSame(event(later), event(receipt), 'and events are as they were')
  t.match(later.body, { personal: null })
  t.match(await run('privacy', 'export', phone, '--merchant', merchant(), '--sandbox'), { code: 2 })

  const back = await service.create(profile)
  t.equal(back['customer'], customer)
  t.match((await service.get(customers)).body, { email, phone }, 'whoever comes back is known again')
})

function merchant(): string {
  return service.service.credentials.merchant_id
}

const steps = 8

t.test('killed before any of its steps, it is completed by the next run', async (t) => {
  const { runtime } = service.service
  const numbers = Array.from({ length: steps }, (_, index) => `+22177000750${index}`)
  const payouts = await Promise.all(
    numbers.map((number) => payout(number, `kept-${numbers.indexOf(number)}`)),
  )
  await Promise.all(payouts.map(end))
  const references = payouts.map((id) => identity(id, 'po'))
  const owner = { merchant: merchant(), livemode: false }
  const erasing = (number: string): Erasing => ({
    person: contactOf(number, owner),
    by: 'awa',
    reason: 'Asked for it',
    rebuild: (models) => rebuildModels(runtime, models),
  })
  const { pool } = runtime.postgres
  const late =
    'update sandbox_operations set method = $1, merchant = $2, livemode = false where reference = $3'
  const killed = async (number: string, before: number) => {
    let step = 0
    const onStep = () => {
      if (step++ === before) throw new Error('killed')
    }
    await t.rejects(erase(runtime, { ...erasing(number), onStep }), /killed/, `before step ${before}`)
    // As somebody who is behind writes it once more.
    const written = await pool.query(late, [wave(number), merchant(), references[numbers.indexOf(number)]])
    t.equal(written.rowCount, 1)
    return erase(runtime, erasing(number))
  }
  const erased = await Promise.all(numbers.map(killed))
  t.ok(erased.every(({ left }) => left.length === 0))
  t.strictSame(foundIn(await dump(), numbers), [])
  const { rows } = await pool.query('select from erasures where done_at is null')
  t.equal(rows.length, 0)
})

t.test('what another customer is known by stays when somebody else has paid with it', async (t) => {
  const shared = '+221770009900'
  await paid({ customer_email: 'owner@example.com', customer_phone: shared }, shared)
  const guest = await paid({ customer_email: 'guest@example.com' }, shared)
  const erased = await eraseBy('awa', String(guest['customer']))
  t.equal(erased.code, 0, erased.stdout + erased.stderr)
  const shown = await dump()
  t.strictSame(foundIn(shown, ['guest@example.com']), [])
  t.strictSame(foundIn(shown, [shared, 'owner@example.com']), [shared, 'owner@example.com'])
})

t.test('whoever subscribes is erased once nothing is billed any more', async (t) => {
  const customer = await createCustomer(service)
  const id = await subscribe(service, { customerId: customer })
  const needed = await eraseBy('awa', customer)
  t.not(needed.code, 0)
  t.match(needed.stderr, `subscription ${id} is running: cancel it first`)
  t.equal((await service.post(`/api/v1/billing/subscriptions/${id}/cancel`, {})).status, 200)
  t.equal((await eraseBy('awa', customer)).code, 0)
})

t.test('nobody is erased who was not named', async (t) => {
  t.match(await eraseBy('awa', 'cus_0190a1b2000070008000000000000001'), { code: 2, stderr: /There is no/ })
  t.match(await eraseBy('awa', 'Awa'), { code: 2, stderr: /must be/ })
  t.match(await eraseBy('awa', phone), { code: 2, stderr: /--merchant/ })
  t.ok(identity(merchant()))
})
