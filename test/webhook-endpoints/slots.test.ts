import { randomUUID } from 'node:crypto'
import t from 'tap'
import { identity } from '../../packages/contract/identity.ts'
import { lawOver } from '../support/law.ts'
import { startService, type TestService } from '../support/service.ts'

type Body = Record<string, unknown>

const endpoints = '/api/v1/webhook-endpoints'

let service: TestService

t.before(async () => {
  service = await startService(t)
})

t.test('of many registrations at once 20 are taken, and who turns endpoints off gets room', async (t) => {
  const key = service.liveKey
  const registration = () => service.post(endpoints, { url: 'https://shop.example/' }, { key })
  const listed = async () =>
    (await service.get<{ data: Body[] }>(`${endpoints}?limit=100`, { key })).body.data
  const before = (await listed()).length
  const answers = await Promise.all(Array.from({ length: 60 }, registration))
  const taken = answers.filter(({ status }) => status === 201)
  t.equal(taken.length, 20 - before)
  await lawOver(
    t,
    answers.filter(({ status }) => status !== 201),
    (answer) => t.match(answer, { status: 409, body: { code: 'IKW-WEBHOOK-004' } }),
  )

  const [today, lately, longAgo] = taken.map(({ body }) => String(body['id']))
  await service.post(`${endpoints}/${today}`, { enabled: false }, { key })
  t.equal((await registration()).status, 409, 'it still counts today')
  await disabledAt(lately!, Date.now() - 86_000_000)
  await disabledAt(longAgo!, Date.now() - 86_401_000)
  t.equal((await registration()).status, 201, 'after a day it does not')
  t.equal((await registration()).status, 409)
  const enabling = { enabled: true }
  t.match(await service.post(`${endpoints}/${longAgo}`, enabling, { key }), {
    status: 409,
    body: { code: 'IKW-WEBHOOK-004' },
  })
  const stale = { key, headers: { 'if-match': '"999"' } }
  t.equal((await service.post(`${endpoints}/${longAgo}`, enabling, stale)).status, 412, 'asks for no slot')
  t.equal((await service.post(`${endpoints}/${randomUUID()}`, enabling, { key })).status, 404)
  t.equal((await service.post(`${endpoints}/${today}`, enabling, { key })).status, 200, 'it has its place')
})

t.test('an endpoint whose secret was lost is shown again, though all places are taken since', async (t) => {
  const key = service.liveKey
  const idempotencyKey = randomUUID()
  const wanted = { url: 'https://lost.example/' }
  for (const { id } of (await service.get<{ data: Body[] }>(`${endpoints}?limit=100`, { key })).body.data)
    await disabledAt(String(id), Date.now() - 86_401_000).catch(() => undefined)
  const keyed = { key, headers: { 'idempotency-key': idempotencyKey } }
  const first = await service.post(endpoints, wanted, keyed)
  t.equal(first.status, 201)
  await disabledAt(String(first.body['id']), Date.now() - 86_401_000)
  const others = Array.from({ length: 30 }, () =>
    service.post(endpoints, { url: 'https://shop.example/' }, { key }),
  )
  t.ok((await Promise.all(others)).some(({ status }) => status === 409))
  // As a process leaves it that dies before it has kept the answer.
  await service.service.runtime.postgres.pool.query(
    `update answers set status = 'running', http_status = null, body = null, in_hand_at = '-infinity'
     where key = $1`,
    [idempotencyKey],
  )
  const again = await service.post(endpoints, wanted, keyed)
  t.strictSame([again.status, again.body], [first.status, first.body])
  t.equal((await service.post(endpoints, wanted, { key })).status, 409, 'a new one has no place')
})

/** Turns an endpoint off as another process did then. */
async function disabledAt(publicId: string, time: number): Promise<void> {
  const { dependencies } = service.service.runtime
  const at = new Date(time).toISOString()
  const owner = { merchant: service.service.credentials.merchant_id, livemode: true }
  const metadata = { ...owner, actor: 'test', correlation: 'test', at, version: 2 }
  const data = { reason: 'merchant', event: null, at }
  const event = { id: dependencies.newId(), type: 'WebhookEndpointDisabled', data, metadata }
  const id = identity(publicId, 'we')
  await dependencies.store.append(`webhook_endpoint-${id}`, 0, [event])
}
