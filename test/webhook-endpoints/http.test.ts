import t from 'tap'
import { Webhook } from 'standardwebhooks'
import { eventually } from '../support/eventually.ts'
import { startService, type TestService } from '../support/service.ts'
import { receiver, until } from '../support/webhooks.ts'

type Body = Record<string, unknown>

const endpoints = '/api/v1/webhook-endpoints'
const payout = {
  amount: 5_000,
  currency: 'XOF',
  destination: { type: 'mobile_money', country: 'SN', operator: 'wave', msisdn: '+221770000000' },
}

let service: TestService

/** Nested tests share one service, so each looks only at what it has made itself. */
t.before(async () => {
  service = await startService(t)
})

async function register(url: string, enabledEvents?: readonly string[]): Promise<Body> {
  const answer = await service.post(endpoints, {
    url,
    ...(enabledEvents && { enabled_events: enabledEvents }),
  })
  if (answer.status !== 201) throw new Error(JSON.stringify(answer.body))
  return answer.body
}

t.test('an endpoint is registered without being contacted, and its secret is shown once', async (t) => {
  const shop = await receiver(t)
  const answer = await service.post(endpoints, { url: `${shop.url}/hook`, enabled_events: ['payout.*'] })
  t.equal(answer.status, 201)
  const { id, secret, ...shown } = answer.body
  t.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/)
  t.match(shown, {
    object: 'webhook_endpoint',
    livemode: false,
    url: `${shop.url}/hook`,
    enabled_events: ['payout.*'],
    enabled: true,
    status: 'active',
    secret_last4: String(secret).slice(-4),
    has_previous_secret: false,
    rotation_recommended: false,
    secret_rotated_at: null,
  })
  t.equal(answer.headers.get('location'), `${endpoints}/${String(id)}`)
  t.strictSame((await service.get(`${endpoints}/${String(id)}`)).body, { id, ...shown })
  const list = async () => (await service.get<{ data: Body[] }>(`${endpoints}?limit=100`)).body.data
  const listed = async () => (await list()).find((one) => one['id'] === id)
  t.strictSame(await eventually(listed, Boolean), { id, ...shown })
  t.equal(shop.received.length, 0)
})

t.test(
  'the same idempotency key registers one endpoint and shows its secret again, which is kept sealed',
  async (t) => {
    const headers = { 'idempotency-key': 'register-once' }
    const body = { url: 'https://shop.example/once' }
    const first = await service.post(endpoints, body, { headers })
    const again = await service.post(endpoints, body, { headers })
    t.equal(again.headers.get('idempotent-replayed'), 'true')
    t.strictSame(again.body, first.body)
    const { rows } = await service.service.runtime.postgres.pool.query<{ body: object }>(
      `select body from answers where key = 'register-once'`,
    )
    t.equal(rows.length, 1)
    t.notOk(JSON.stringify(rows).includes('whsec_'))
  },
)

for (const url of [
  'http://localhost/hook',
  'https://api.localhost',
  'http://10.1.2.3/',
  'http://[::1]/',
  'http://0xA000001/',
  'ftp://shop.example',
]) {
  t.test(`an endpoint at ${url} is refused`, async (t) => {
    const { status, body } = await service.post(endpoints, { url })
    t.equal(status, 400)
    t.match(body, { code: 'IKW-WEBHOOK-001', retryable: false, param: '/url' })
  })
}

t.test('live takes HTTPS only', async (t) => {
  const key = service.liveKey
  t.match(await service.post(endpoints, { url: 'http://shop.example/' }, { key }), {
    status: 400,
    body: { code: 'IKW-WEBHOOK-001' },
  })
  t.match(await service.post(endpoints, { url: 'https://shop.example/' }, { key }), {
    status: 201,
    body: { livemode: true },
  })
})

t.test('an event type that does not exist is refused', async (t) => {
  const answer = await service.post(endpoints, {
    url: 'https://shop.example/',
    enabled_events: ['payout.paid', 'payout.lost'],
  })
  t.match(answer, { status: 400, body: { code: 'IKW-WEBHOOK-002', param: '/enabled_events/1' } })
})

t.test('URL, events and enabled can be changed, each alone', async (t) => {
  const { id } = await register('https://shop.example/before')
  const path = `${endpoints}/${String(id)}`
  t.match((await service.post(path, { url: 'https://shop.example/after' })).body, {
    url: 'https://shop.example/after',
    enabled_events: ['*'],
  })
  t.match((await service.post(path, { enabled_events: ['refund.*'] })).body, {
    enabled_events: ['refund.*'],
    enabled: true,
  })
  t.match((await service.post(path, { enabled: false })).body, { enabled: false, status: 'disabled' })
  t.match((await service.get(path)).body, {
    url: 'https://shop.example/after',
    enabled_events: ['refund.*'],
    status: 'disabled',
  })
  t.match((await service.post(path, { enabled: true })).body, { enabled: true, status: 'active' })
  const { body: history } = await service.get<{ data: Body[] }>(`${path}/history`)
  t.match(history.data, [
    { type: 'WebhookEndpointRegistered', actor: /^key:/ },
    { changed: { url: { from: 'https://shop.example/before', to: 'https://shop.example/after' } } },
    { changed: { enabled_events: { from: ['*'], to: ['refund.*'] } } },
    { changed: { enabled: { from: true, to: false } } },
    { changed: { enabled: { from: false, to: true } } },
  ])
  t.notMatch(JSON.stringify(history), 'whsec_')
  t.match(await service.post(path, { url: 'http://192.168.0.1' }), {
    status: 400,
    body: { code: 'IKW-WEBHOOK-001' },
  })
})

t.test('a rotated secret is shown once and the old one signs as well', async (t) => {
  const { id, secret } = await register('https://shop.example/rotate')
  const { status, body } = await service.post(`${endpoints}/${String(id)}/rotate_secret`)
  t.equal(status, 200)
  t.match(body, {
    id,
    object: 'webhook_endpoint_secret',
    secret: /^whsec_/,
    secret_last4: String(body['secret']).slice(-4),
  })
  t.not(body['secret'], secret)
  t.match((await service.get(`${endpoints}/${String(id)}`)).body, {
    has_previous_secret: true,
    secret_last4: body['secret_last4'],
    secret_rotated_at: body['secret_rotated_at'],
  })
  t.equal((await service.post(`${endpoints}/${String(id)}/rotate_secret`, { expires_in: 0 })).status, 200)
  t.match((await service.get(`${endpoints}/${String(id)}`)).body, { has_previous_secret: false })
})

t.test('the other environment neither sees nor changes an endpoint', async (t) => {
  const { id } = await register('https://shop.example/mine')
  const key = service.liveKey
  for (const path of [`${endpoints}/${String(id)}`, `${endpoints}/${String(id)}/rotate_secret`]) {
    t.match(await service.post(path, {}, { key }), { status: 404, body: { code: 'IKW-RES-001' } })
  }
  t.match(await service.get(`${endpoints}/${String(id)}`, { key }), { status: 404 })
  t.match(await service.post('/api/v1/webhook-replays', { webhook_endpoint_id: id }, { key }), {
    status: 404,
  })
})

t.test('what happens to a payout is delivered, signed with the secret that was shown', async (t) => {
  const shop = await receiver(t)
  const { secret } = await register(shop.url, ['payout.created', 'payout.in_transit'])
  const { body } = await service.post('/api/v1/payouts', payout)
  await until(() => shop.received.length === 2)
  const events = shop.received.map(
    (one) => new Webhook(String(secret)).verify(one.body, one.headers as Record<string, string>) as Body,
  )
  t.strictSame(
    events.map(({ type }) => type),
    ['payout.created', 'payout.in_transit'],
  )
  t.match(events[0], {
    id: /^evt_/,
    livemode: false,
    data: { id: body['id'], object: 'payout', currency: 'xof', amount: 5_000 },
  })
})

t.test('an endpoint that answers 410 is turned off, and the others are told', async (t) => {
  const shop = await receiver(t)
  shop.answer = ({ path }, response) => void response.writeHead(path === '/gone' ? 410 : 200).end()
  const { id } = await register(`${shop.url}/gone`, ['payout.created'])
  await register(`${shop.url}/watch`, ['webhook_endpoint.*'])
  await service.post('/api/v1/payouts', payout)
  await until(() => shop.events('/watch').length === 1)
  const [told] = shop.received.filter(({ path }) => path === '/watch')
  t.match(JSON.parse(told!.body), {
    type: 'webhook_endpoint.disabled',
    data: { id, object: 'webhook_endpoint', status: 'disabled', enabled: false },
  })
  t.match((await service.get(`${endpoints}/${String(id)}`)).body, { status: 'disabled' })
})

t.test('a past event is replayed to an endpoint that was registered later', async (t) => {
  const shop = await receiver(t)
  await register(`${shop.url}/first`, ['payout.created'])
  await service.post('/api/v1/payouts', payout)
  await until(() => shop.events('/first').length === 1)
  const [event] = shop.events('/first')
  const { id } = await register(`${shop.url}/later`, ['payout.created'])
  const { status, body } = await service.post('/api/v1/webhook-replays', {
    event_id: event,
    webhook_endpoint_id: id,
    reason: 'new',
  })
  t.equal(status, 202)
  t.match(body, {
    id: /^wr_/,
    object: 'webhook_replay',
    event_id: event,
    webhook_endpoint_id: id,
    reason: 'new',
    deliveries: 1,
  })
  await until(() => shop.events('/later').length === 1)
  t.match(shop.received.at(-1), {
    path: '/later',
    headers: { 'webhook-id': event, 'webhook-replay': 'true' },
  })
})

t.test('a replay names an event or an endpoint that exists', async (t) => {
  const unknown = '0190a1b2c3d47e5f8a9b0c1d2e3f4a5b'
  t.match(await service.post('/api/v1/webhook-replays', {}), {
    status: 400,
    body: { code: 'IKW-WEBHOOK-003' },
  })
  const named = [
    ['event_id', `evt_${unknown}`, 'event'],
    ['webhook_endpoint_id', `we_${unknown}`, 'webhook endpoint'],
  ] as const
  for (const [field, id, kind] of named) {
    t.match(await service.post('/api/v1/webhook-replays', { [field]: id }), {
      status: 404,
      body: { code: 'IKW-RES-001', detail: `No ${kind} ${id}`, param: `/${field}` },
    })
  }
})

t.test('a replay to an endpoint that is turned off is refused', async (t) => {
  const shop = await receiver(t)
  const { id } = await register(shop.url, ['payout.created'])
  await service.post('/api/v1/payouts', payout)
  await until(() => shop.events().length === 1)
  await service.post(`${endpoints}/${String(id)}`, { enabled: false })
  const both = { event_id: shop.events()[0], webhook_endpoint_id: id }
  for (const body of [both, { webhook_endpoint_id: id }]) {
    t.match(await service.post('/api/v1/webhook-replays', body), {
      status: 409,
      body: { code: 'IKW-WEBHOOK-005', retryable: false },
    })
  }
})
