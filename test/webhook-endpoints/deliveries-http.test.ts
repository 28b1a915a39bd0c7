import { randomUUID } from 'node:crypto'
import t from 'tap'
import { issueKey, otherMerchantsKey } from '../support/credentials.ts'
import { startService, type TestService } from '../support/service.ts'
import { receiver, until } from '../support/webhooks.ts'

type Body = Record<string, unknown>

interface Page {
  readonly data: readonly Body[]
  readonly has_more: boolean
  readonly next_cursor: string | null
}

const endpoints = '/api/v1/webhook-endpoints'
const payout = {
  amount: 5_000,
  currency: 'XOF',
  destination: { type: 'mobile_money', country: 'SN', operator: 'wave', msisdn: '+221770000000' },
}

let service: TestService

t.before(async () => {
  service = await startService(t)
})

async function register(url: string, enabledEvents: readonly string[]): Promise<Body> {
  return (await service.post(endpoints, { url, enabled_events: enabledEvents })).body
}

t.test('an event is shown with what each endpoint answered, and so is a replay', async (t) => {
  const shop = await receiver(t)
  shop.answer = ({ path }, response) =>
    void response.writeHead(path === '/deaf' ? 503 : 200).end(path === '/deaf' ? 'closed' : '')
  const { id: deaf } = await register(`${shop.url}/deaf`, ['payout.created'])
  const { id: good } = await register(`${shop.url}/good`, ['payout.created'])
  await service.post('/api/v1/payouts', payout)
  await until(() => shop.received.length === 2)
  const [event] = shop.events('/good')
  t.match((await service.get(`/api/v1/events/${event}`)).body, { id: event, type: 'payout.created' })
  const replay = await service.post('/api/v1/webhook-replays', { event_id: event, webhook_endpoint_id: good })
  const path = `/api/v1/webhook-replays/${String(replay.body['id'])}`
  await until(async () => (await service.get(path)).body['status'] === 'completed')
  t.match((await service.get(path)).body, { event_id: event, deliveries: 1, succeeded: 1, failed: 0 })
  const { body } = await service.get<{ data: Body[] }>(`/api/v1/events/${event}/deliveries`)
  const of = (id: unknown) => body.data.filter((one) => one['webhook_endpoint_id'] === id)
  t.match(of(deaf), [
    { status: 'pending', attempts: 1, last_status: 503, last_answer: 'closed', next_attempt_at: String },
  ])
  t.match(of(good), [
    { status: 'succeeded', replay: true },
    { status: 'succeeded', replay: false, attempts: 1, last_status: 200, next_attempt_at: null },
  ])
  for (const sight of [`/api/v1/events/${event}`, `/api/v1/events/${event}/deliveries`, path])
    t.equal((await service.get(sight, { key: service.liveKey })).status, 404, sight)
})

t.test('an endpoint shows what it was sent, page by page, to those who may see its events', async (t) => {
  const shop = await receiver(t)
  shop.answer = ({ path }, response) => {
    response.writeHead(path === '/' && shop.events('/').length === 2 ? 500 : 200).end()
  }
  const { id } = await register(shop.url, ['payout.created'])
  const { id: other } = await register(`${shop.url}/other`, ['payout.created'])
  const path = `${endpoints}/${String(id)}/deliveries`
  for (let count = 1; count <= 3; count++) {
    await service.post('/api/v1/payouts', payout)
    await until(() => shop.events('/').length === count)
  }
  const sent = shop.events('/').toReversed()
  const replay = { event_id: sent[0], webhook_endpoint_id: id }
  await service.post('/api/v1/webhook-replays', replay)
  const list = (query = '', options = {}) => service.get<Page>(`${path}?${query}`, options)
  await until(async () => (await list('status=succeeded')).body.data.length === 3)
  const shown: Body[] = []
  for (let cursor = ''; ;) {
    const { body } = await list(`limit=1${cursor}`)
    shown.push(...body.data)
    if (!body.has_more) break
    cursor = `&cursor=${String(body.next_cursor)}`
  }
  t.strictSame(
    shown.map((one) => [one['event_id'], one['replay']]),
    [[sent[0], true], ...sent.map((event) => [event, false])],
  )
  t.ok(shown.every((one) => one['webhook_endpoint_id'] === id))
  t.not(id, other)
  t.match((await list('status=pending')).body.data, [{ last_status: 500, attempts: 1 }])
  const blind = await issueKey(service, { scopes: ['webhooks.read'] })
  t.strictSame((await list('', { key: blind })).body.data, [])
  t.equal((await list('', { key: service.liveKey })).status, 404)
  t.equal((await list('', { key: await otherMerchantsKey(service, randomUUID()) })).status, 404)
  t.match(await list('cursor=evt_none'), { status: 400, body: { errors: [{ pointer: 'query:/cursor' }] } })
})

t.test('a test event goes to the endpoint that is tested alone', async (t) => {
  const shop = await receiver(t)
  const { id } = await register(`${shop.url}/tested`, ['refund.failed'])
  await register(`${shop.url}/all`, ['*'])
  t.match(await service.post(`${endpoints}/${String(id)}/test`), { status: 200, body: { id } })
  await until(() => shop.events('/tested').length === 1)
  t.match(JSON.parse(shop.received[0]!.body), { type: 'webhook_endpoint.test', data: { id } })
  await service.post(`${endpoints}/${String(id)}/test`)
  await until(() => shop.events('/tested').length === 2)
  t.strictSame(shop.events('/all'), [])
  await service.post(`${endpoints}/${String(id)}`, { enabled: false })
  t.match(await service.post(`${endpoints}/${String(id)}/test`), {
    status: 409,
    body: { code: 'IKW-WEBHOOK-005' },
  })
})
