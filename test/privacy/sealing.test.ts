import t from 'tap'
import { identity } from '../../packages/contract/identity.ts'
import { payout } from '../../packages/domain/payouts/payout.ts'
import { readState } from '../../packages/kernel/history.ts'
import { openRuntime } from '../../services/composition/dependencies.ts'
import { eventually } from '../support/eventually.ts'
import { lawOver } from '../support/law.ts'
import { startService, type TestService } from '../support/service.ts'

const msisdn = '+221770004242'
const holder = 'Awa Ndiaye Sealed'
const email = 'awa.sealed@example.com'
const wave = { type: 'mobile_money', country: 'SN', operator: 'wave', msisdn }
const bank = { type: 'bank', bank_code: 'SN010', account_number: '0077007700', account_name: holder }

let service: TestService

t.before(async () => {
  service = await startService(t, {}, { keysFreshMs: 100 })
})

async function post(path: string, body: object): Promise<Record<string, unknown>> {
  const answer = await service.post(path, body)
  if (answer.status >= 300) throw new Error(`${path}: ${JSON.stringify(answer.body)}`)
  return answer.body
}

async function rowsWith(text: string): Promise<readonly string[]> {
  const { rows } = await service.service.runtime.postgres.pool.query<{ type: string }>(
    'select type from events where data::text like $1 or metadata::text like $1',
    [`%${text}%`],
  )
  return rows.map(({ type }) => type)
}

t.test('what is personal stands sealed in the log, and readers see it', async (t) => {
  const payout = await post('/api/v1/payouts', { amount: 500, currency: 'XOF', destination: wave })
  await post('/api/test/payouts/callback', { payout_id: payout['id'], status: 'paid' })
  const saved = await post('/api/v1/merchant/settings/payouts/destinations', {
    ...bank,
    label: 'Awa at home',
  })
  const intent = await post('/api/v1/payment-intents', {
    amount: 5_000,
    currency: 'XOF',
    transaction_country: 'SN',
    customer_email: email,
    customer_phone: msisdn,
  })
  const mobile_money = { country: 'SN', operator: 'orange_money', msisdn }
  const payment_method = { type: 'mobile_money', mobile_money }
  await post(`/api/v1/payment-intents/${String(intent['id'])}/confirm`, { payment_method })
  for (const text of [msisdn, holder, email, bank.account_number, 'Awa at home'])
    t.strictSame(await rowsWith(text), [], `"${text}" is nowhere in the log`)
  const shown = await eventually(
    () => service.get(`/api/v1/payouts/${String(payout['id'])}`),
    ({ body }) => body['status'] === 'paid',
  )
  t.match(shown.body, { destination: { msisdn } })
  t.match(saved, { label: 'Awa at home' })
  const customer = await service.get(`/api/v1/merchant/customers/${String(intent['customer'])}`)
  t.match(customer.body, { email, phone: msisdn })
})

t.test('a box opens only where it was sealed', async (t) => {
  const { dependencies, postgres } = service.service.runtime
  const one = await post('/api/v1/payouts', { amount: 500, currency: 'XOF', destination: wave })
  const other = await post('/api/v1/payouts', { amount: 501, currency: 'XOF', destination: wave })
  const [stream, from] = [one, other].map(({ id }) => `payout-${identity(String(id), 'po')!}`)
  await postgres.pool.query(
    `update events set metadata = jsonb_set(metadata::jsonb, '{sealed}', (
       select metadata::jsonb -> 'sealed' from events where stream = $2 and revision = 0))::json
     where stream = $1 and revision = 0`,
    [stream, from],
  )
  const [moved, intact] = [
    await dependencies.store.readStream(stream!, 0),
    await dependencies.store.readStream(from!, 0),
  ]
  t.match(moved[0]?.damage, { message: /^payout-\S+ at 0 is sealed in a box that its key does not open$/ })
  t.notOk(intact[0]?.damage, 'only the stream that holds it')
  await t.rejects(readState(dependencies.store, payout, identity(String(one['id']), 'po')!), /does not open/)
})

t.test('a key that nobody can have named is missing in its own stream only', async (t) => {
  const { dependencies, postgres } = service.service.runtime
  const { id } = await post('/api/v1/payouts', { amount: 502, currency: 'XOF', destination: wave })
  const stream = `payout-${identity(String(id), 'po')!}`
  const names = ['"\\u0000"', '"nobody.1"', '"a b.1"', '7', '{}', 'null']
  await lawOver(t, names, async (name) => {
    const { rowCount } = await postgres.pool.query(
      `update events set metadata = regexp_replace(metadata::text, '"key":\\s*[^,]+,', '"key":' || $2 || ',')::json
       where stream = $1 and revision = 0`,
      [stream, name],
    )
    t.equal(rowCount, 1)
    const [damaged] = await dependencies.store.readStream(stream, 0)
    t.match(
      damaged?.damage,
      { message: /is sealed with a key that this database does not have, or not as it was written$/ },
      name,
    )
  })
})

t.test(
  'a key that is destroyed opens nothing, in no process, and what comes later has a new one',
  async (t) => {
    const { runtime, credentials } = service.service
    const mine = { ...wave, msisdn: '+221770004343' }
    const request = { amount: 500, currency: 'XOF', destination: mine }
    const before = await post('/api/v1/payouts', request)
    const another = await openRuntime(runtime.configuration)
    t.teardown(() => another.close())
    const destinationOf = async (payout: Record<string, unknown>, { dependencies } = another) => {
      const stream = `payout-${identity(String(payout['id']), 'po')!}`
      const [requested] = await dependencies.store.readStream(stream, 0, 1)
      return (requested!.data as { destination: Record<string, unknown> }).destination
    }
    t.match(await destinationOf(before), mine)
    const { personalKeys } = runtime.dependencies
    const subject = `${credentials.merchant_id}/false/contact/${mine.msisdn}`
    await personalKeys.retire([subject])
    await personalKeys.destroyRetired([subject])
    const after = await post('/api/v1/payouts', request)
    t.match(await destinationOf(before, runtime), { operator: 'wave', msisdn: '[erased]' })
    t.match(await destinationOf(after, runtime), mine)
    t.match(await destinationOf(after), mine, 'in another process too')
    const fresh = await openRuntime(runtime.configuration)
    t.teardown(() => fresh.close())
    t.match(await destinationOf(before, fresh), { msisdn: '[erased]' })
  },
)

t.test('what was read before somebody was erased is not told by later events', async (t) => {
  const mine = { ...wave, msisdn: '+221770004545' }
  const payout = await post('/api/v1/payouts', { amount: 500, currency: 'XOF', destination: mine })
  const id = String(payout['id'])
  const told = async (type: string) => {
    const { body } = await eventually(
      () => service.get<{ data: readonly object[] }>(`/api/v1/events?types[]=${type}&limit=100`),
      ({ body }) => JSON.stringify(body).includes(id),
    )
    return body.data.map((event) => JSON.stringify(event)).find((event) => event.includes(id))!
  }
  t.match(await told('payout.created'), mine.msisdn)
  const { runtime, credentials } = service.service
  const subject = `${credentials.merchant_id}/false/contact/${mine.msisdn}`
  await runtime.dependencies.personalKeys.retire([subject])
  await runtime.dependencies.personalKeys.destroyRetired([subject])
  await post('/api/test/payouts/callback', { payout_id: id, status: 'paid' })
  const paid = await told('payout.paid')
  t.notMatch(paid, mine.msisdn)
  t.match(paid, '[erased]')
})
