import type { ServerResponse } from 'node:http'
import t from 'tap'
import { v7 } from 'uuid'
import { Replays } from '../../infra/postgres/webhooks/replays.ts'
import { webhookReplay } from '../../packages/domain/webhook-endpoints/webhook-replay.ts'
import {
  allHappened,
  command,
  deliveryRows,
  happened,
  minuteMs,
  published,
  receiver,
  register,
  settled,
  until,
  webhookFixture,
  webhookService,
  type WebhookFixture,
} from '../support/webhooks.ts'

async function requestReplay(
  fixture: WebhookFixture,
  request: { event?: string; endpoint?: string },
): Promise<string> {
  const id = v7()
  const data = {
    event: request.event ?? null,
    endpoint: request.endpoint ?? null,
    reason: null,
    deliveries: 0,
  }
  const envelope = { merchant: fixture.merchant, livemode: false, actor: 'key:test', correlation: id }
  await fixture.executor.send(webhookReplay, id, { type: 'RequestReplay', data }, envelope)
  return id
}

async function completed(fixture: WebhookFixture, replay: string) {
  await until(async () => (await fixture.store.readStream(`webhook_replay-${replay}`, 0)).length === 2)
  return (await fixture.store.readStream(`webhook_replay-${replay}`, 0))[1]?.data
}

t.test(
  'a replayed event goes to all endpoints that are enabled for its type now, under its own id',
  async (t) => {
    const fixture = await webhookFixture()
    const shop = await receiver(t)
    await webhookService(t, fixture)
    const event = await published(fixture)
    await register(fixture, `${shop.url}/all`)
    await register(fixture, `${shop.url}/payouts`, ['payout.*'])
    await register(fixture, `${shop.url}/refunds`, ['refund.succeeded'])
    const replay = await requestReplay(fixture, { event: event.id })
    t.match(await completed(fixture, replay), { deliveries: 2, succeeded: 2, failed: 0 })
    t.strictSame(shop.received.map(({ path }) => path).sort(), ['/all', '/payouts'])
    t.ok(
      shop.received.every(
        ({ headers, body }) => headers['webhook-replay'] === 'true' && body === event.payload,
      ),
    )
    t.strictSame(shop.events(), [event.id, event.id])
  },
)

t.test(
  'an event can be replayed to one endpoint, again and again, and is tried once each time',
  async (t) => {
    const fixture = await webhookFixture()
    const shop = await receiver(t)
    const id = await register(fixture, `${shop.url}/one`)
    await register(fixture, `${shop.url}/other`)
    await webhookService(t, fixture)
    const event = await published(fixture)
    await settled(fixture)
    shop.answer = (_, response) => void response.writeHead(500).end()
    t.match(await completed(fixture, await requestReplay(fixture, { event: event.id, endpoint: id })), {
      deliveries: 1,
      succeeded: 0,
      failed: 1,
    })
    shop.answer = (_, response) => void response.end()
    t.match(await completed(fixture, await requestReplay(fixture, { event: event.id, endpoint: id })), {
      deliveries: 1,
      succeeded: 1,
      failed: 0,
    })
    t.strictSame(
      shop.received.slice(2).map(({ path }) => path),
      ['/one', '/one'],
    )
  },
)

t.test(
  'an endpoint is sent again what it missed or failed to take in 30 days, in order, and nothing else',
  async (t) => {
    const fixture = await webhookFixture()
    const shop = await receiver(t)
    await webhookService(t, fixture)
    await published(fixture)
    const id = await register(fixture, shop.url, ['payout.*'])
    const old = await published(fixture)
    fixture.advance(31 * 1_440 * minuteMs)
    const taken = await published(fixture)
    await settled(fixture)
    shop.answer = (_, response) => void response.writeHead(500).end()
    const failed = await published(fixture)
    await published(fixture, { type: 'refund.succeeded' })
    await settled(fixture)
    await command(fixture, id, { type: 'ReviseEndpoint', data: { enabled: false } })
    const missed = await published(fixture)
    await command(fixture, id, { type: 'ReviseEndpoint', data: { enabled: true } })
    shop.answer = (_, response) => void response.end()
    t.match(await completed(fixture, await requestReplay(fixture, { endpoint: id })), {
      deliveries: 2,
      succeeded: 2,
      failed: 0,
    })
    t.strictSame(shop.events(), [old.id, taken.id, failed.id, failed.id, missed.id])
  },
)

t.test('a replay without anything to send is completed', async (t) => {
  const fixture = await webhookFixture()
  const shop = await receiver(t)
  const id = await register(fixture, shop.url)
  await webhookService(t, fixture)
  t.match(await completed(fixture, await requestReplay(fixture, { endpoint: id })), {
    deliveries: 0,
    succeeded: 0,
    failed: 0,
  })
})

t.test('a replay that cannot be planned, or names nobody, keeps no other waiting', async (t) => {
  const fixture = await webhookFixture()
  const shop = await receiver(t)
  await register(fixture, shop.url)
  const event = await happened(fixture)
  const poisoned = { ...fixture, merchant: v7() }
  for (let number = 0; number < 30; number++) await requestReplay(poisoned, { endpoint: v7() })
  const toNobody = await requestReplay(poisoned, { event: event.id, endpoint: v7() })
  const behind = await requestReplay(fixture, { event: event.id })
  await webhookService(t, fixture)
  t.match(await completed(fixture, behind), { deliveries: 1, succeeded: 1 })
  t.match(await completed(fixture, toNobody), { deliveries: 1, failed: 1 }, 'also of the same merchant')
  const [row] = (await deliveryRows(fixture)).filter(({ status }) => status === 'failed')
  t.match(row, { attempts: 0, last_answer: 'there is no such endpoint' })
})

t.test('a hundred replays to an endpoint that hangs hold up no other endpoint', async (t) => {
  const fixture = await webhookFixture()
  const shop = await receiver(t)
  shop.answer = ({ path }, response) => void (path === '/hangs' || response.end())
  const hanging = { ...fixture, merchant: v7() }
  const endpoint = await register(hanging, `${shop.url}/hangs`)
  const [event] = await allHappened(hanging, [{}])
  for (let number = 0; number < 100; number++) await requestReplay(hanging, { event: event!.id, endpoint })
  await webhookService(t, fixture)
  await until(() => shop.events('/hangs').length > 0)
  await register(fixture, `${shop.url}/answers`)
  const other = await happened(fixture)
  t.match(await completed(fixture, await requestReplay(fixture, { event: other.id })), { succeeded: 1 })
  const planned = await fixture.pool.query('select from webhook_replay_plans')
  t.ok(planned.rows.length < 100, 'the others to that endpoint wait')
  const own = await register(hanging, `${shop.url}/own`)
  const toOwn = await requestReplay(hanging, { event: event!.id, endpoint: own })
  t.match(await completed(fixture, toOwn), { succeeded: 1 }, 'also of the same merchant')
})

t.test('replays are planned in turns, before any of them is completed', async (t) => {
  const fixture = await webhookFixture()
  const other = { ...fixture, merchant: v7() }
  const url = 'https://shop.example/hooks'
  const [endpoint, others] = [await register(fixture, url), await register(other, url)]
  const [event, its] = [await happened(fixture), await happened(other)]
  const many: string[] = []
  for (let number = 0; number < 3; number++)
    many.push(await requestReplay(fixture, { event: event.id, endpoint }))
  const one = await requestReplay(other, { event: its.id, endpoint: others })
  const [first, second, third] = many
  const replays = new Replays(fixture.pool)
  const open = async () => {
    // Those of other tests among them.
    const all = await replays.open({ perOwnerMax: 10, perEndpointMax: 10, limit: 10_000, without: [] })
    return all.map(({ id }) => id).filter((id) => [...many, one].includes(id))
  }
  await until(async () => (await open()).length === 4)
  t.strictSame(await open(), [first, one, second, third])
  await replays.plan({ replay: first!, now: fixture.clock(), what: { event: event.id, endpoints: [] } })
  t.strictSame(await open(), [one, second, third, first])
})

t.test('what an endpoint is being sent for the first time is not missed', async (t) => {
  const fixture = await webhookFixture()
  const shop = await receiver(t)
  let response: ServerResponse | undefined
  shop.answer = (_, given) => void (response = given)
  const id = await register(fixture, shop.url)
  await webhookService(t, fixture)
  const event = await published(fixture)
  await until(() => response !== undefined)
  t.match(await completed(fixture, await requestReplay(fixture, { endpoint: id })), { deliveries: 0 })
  response?.end()
  await settled(fixture)
  t.strictSame(shop.events(), [event.id])
})
