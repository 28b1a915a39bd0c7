import type { ServerResponse } from 'node:http'
import t from 'tap'
import { v7 } from 'uuid'
import type { PublicEvent } from '../../packages/kernel/ports/messages.ts'
import { lawOver } from '../support/law.ts'
import {
  allHappened,
  deliveryRows,
  happened,
  published,
  receiver,
  register,
  settled,
  until,
  webhookFixture,
  webhookService,
} from '../support/webhooks.ts'

t.test('events of one resource arrive in their order, each when the attempt before has ended', async (t) => {
  const fixture = await webhookFixture()
  const shop = await receiver(t)
  await register(fixture, shop.url)
  const open = new Map<unknown, ServerResponse>()
  shop.answer = ({ headers }, response) => void open.set(headers['webhook-id'], response)
  await webhookService(t, fixture)
  const events = []
  for (let number = 0; number < 4; number++) events.push(await happened(fixture))
  const elsewhere = await happened(fixture, { resource: 'payout/2' })
  await fixture.bus.publish([...events, elsewhere])
  await until(() => open.has(elsewhere.id))
  t.equal(shop.mostAtOnce.get('/'), 2, 'another resource need not wait')
  open.get(elsewhere.id)?.end()
  await lawOver(t, events.entries(), async ([index, { id }]) => {
    await until(() => open.has(id))
    t.equal(open.size, index + 2, 'no later one was sent before')
    open
      .get(id)
      ?.writeHead(index === 1 ? 500 : 200)
      .end()
  })
  await settled(fixture)
  t.equal(shop.received.length, 5, 'one that failed holds up nobody')
})

t.test(
  'many events of many resources arrive once, in the order of each resource, also when memory is full',
  async (t) => {
    const fixture = await webhookFixture()
    const shop = await receiver(t)
    shop.answer = ({ path }, response) => setTimeout(() => response.end(), path === '/slow' ? 3 : 0)
    await register(fixture, `${shop.url}/slow`)
    await register(fixture, `${shop.url}/fast`)
    await webhookService(t, fixture, { limits: { perEndpointMax: 2, heldMax: 100 } })
    const events = []
    for (let number = 0; number < 300; number++)
      events.push(await happened(fixture, { resource: `payout/${number % 7}` }))
    for (let start = 0; start < events.length; start += 50)
      await fixture.bus.publish(events.slice(start, start + 50))
    await settled(fixture)
    for (const path of ['/slow', '/fast']) {
      for (let resource = 0; resource < 7; resource++) {
        const expected = events.filter((event) => event.resource === `payout/${resource}`).map(({ id }) => id)
        const got = shop.events(path).filter((id) => expected.includes(`${id}`))
        t.strictSame(got, expected, `${path} payout/${resource}`)
      }
      t.ok((shop.mostAtOnce.get(path) ?? 0) <= 2, 'no more at once than allowed')
    }
  },
)

t.test('endpoints that do not answer do not hold up the others', async (t) => {
  const fixture = await webhookFixture()
  const shop = await receiver(t)
  shop.answer = ({ path }, response) => void (path === '/good' && response.end())
  for (let number = 0; number < 10; number++) await register(fixture, `${shop.url}/dead${number}`)
  const good = await register(fixture, `${shop.url}/good`)
  await webhookService(t, fixture, { limits: { perEndpointMax: 2, inFlightMax: 200, heldMax: 1_000 } })
  const events = await allHappened(
    fixture,
    Array.from({ length: 100 }, (_, number) => ({ resource: `payout/${number}` })),
  )
  await fixture.bus.publish(events)
  await until(() => shop.events('/good').length === 100)
  const dead = (await deliveryRows(fixture)).filter(({ endpoint }) => endpoint !== good)
  t.equal(dead.length, 1_000)
  t.ok(
    dead.every(({ attempts }) => attempts === 0),
    'nobody waited for the end of an attempt elsewhere',
  )
  t.equal(shop.mostAtOnce.get('/dead3'), 2)
})

t.test(
  'what a killed process had in hand is sent by another when its lease has run out, each row once',
  async (t) => {
    const fixture = await webhookFixture()
    const shop = await receiver(t)
    const id = await register(fixture, shop.url)
    const { deliveries } = fixture
    const killed = v7()
    await deliveries.begin(killed, new Date(fixture.clock().getTime() + 30_000))
    const [first, second] = [await happened(fixture), await happened(fixture)]
    const rowOf = (event: typeof first) => ({ ...event, endpoint: id, event: event.id, wanted: true })
    t.equal((await deliveries.add(killed, fixture.clock(), [rowOf(first)])).size, 1)
    await webhookService(t, fixture, { limits: { leaseMs: 60 } })
    await fixture.bus.publish([first, second])
    const elsewhere = await published(fixture, { resource: 'payout/2' })
    await until(async () =>
      (await deliveryRows(fixture)).some(
        ({ event, status }) => event === elsewhere.id && status === 'succeeded',
      ),
    )
    const inHand = (await deliveryRows(fixture))
      .filter(({ status }) => status === 'pending')
      .map(({ event, worker }) => [event, worker])
    t.strictSame(
      inHand,
      [
        [first.id, killed],
        [second.id, null],
      ],
      'the second one of the resource waits for the first',
    )
    fixture.advance(30_001)
    await settled(fixture)
    t.strictSame(shop.events(), [elsewhere.id, first.id, second.id])
    t.ok(
      (await deliveryRows(fixture)).every(({ status, attempts }) => status === 'succeeded' && attempts === 1),
    )
  },
)

t.test('who comes second finds what the first has in hand since it was alone', async (t) => {
  const fixture = await webhookFixture()
  const shop = await receiver(t)
  await register(fixture, shop.url)
  const open: ServerResponse[] = []
  shop.answer = ({ body }, response) => void (body.includes('"slow"') ? open.push(response) : response.end())
  await webhookService(t, fixture, { limits: { leaseMs: 60 } })
  await published(fixture, { resource: 'payout/1' })
  const slow = await published(fixture, { resource: 'payout/2', data: { kind: 'slow' } })
  await published(fixture, { resource: 'payout/3' })
  await until(() => open.length === 1)
  const placeOf = async () =>
    (
      await fixture.pool.query<{ place: string | null; isNext: boolean }>(
        `select place, deliveries.id = unlisted_after + 1 as "isNext" from deliveries, webhook_workers
         where event = $1 and worker = webhook_workers.id`,
        [slow.id],
      )
    ).rows[0]
  await until(async () => (await placeOf())?.isNext === true)
  t.equal((await placeOf())?.place, null, 'nobody else is there to look for it')
  await fixture.deliveries.begin(v7(), new Date(fixture.clock().getTime() + 30_000))
  t.equal((await placeOf())?.place, 'held')
  open[0]?.end()
  await settled(fixture)
})

t.test('who has no lease takes nothing in hand', async (t) => {
  const fixture = await webhookFixture()
  const shop = await receiver(t)
  const endpoint = await register(fixture, shop.url)
  const event = await happened(fixture)
  const nobody = v7()
  const row = { ...event, endpoint, event: event.id, wanted: true }
  t.equal((await fixture.deliveries.add(nobody, fixture.clock(), [row])).size, 0)
  const claim = { now: fixture.clock(), after: '', rooms: {}, roomDefault: 1, limit: 1 }
  t.strictSame(await fixture.deliveries.claim(nobody, claim), { deliveries: [], after: '' })
  await fixture.deliveries.begin(nobody, new Date(fixture.clock().getTime() + 30_000))
  t.equal((await fixture.deliveries.claim(nobody, claim)).deliveries.length, 1)
})

t.test('a process that was taken for dead gives up what it had and goes on under another name', async (t) => {
  const fixture = await webhookFixture()
  const shop = await receiver(t)
  await register(fixture, shop.url)
  await webhookService(t, fixture, { limits: { leaseMs: 60 } })
  const [before] = (await fixture.pool.query<{ id: string }>('select id from webhook_workers')).rows
  await fixture.pool.query('delete from webhook_workers')
  await until(async () => (await fixture.pool.query('select from webhook_workers')).rows.length === 1)
  const [after] = (await fixture.pool.query<{ id: string }>('select id from webhook_workers')).rows
  t.not(before?.id, after?.id)
  const event = await published(fixture)
  await settled(fixture)
  t.strictSame(shop.events(), [event.id])
})

t.test('a service that stops gives back what it has not begun, and the next one sends it', async (t) => {
  const fixture = await webhookFixture()
  const shop = await receiver(t)
  await register(fixture, shop.url)
  const answered = new Promise<ServerResponse>(
    (arrived) => (shop.answer = (_, response) => arrived(response)),
  )
  const first = await webhookService(t, fixture, { limits: { perEndpointMax: 1 } })
  const events = [await happened(fixture), await happened(fixture), await happened(fixture)]
  await fixture.bus.publish(events)
  const response = await answered
  const closed = first.close()
  response.end()
  await closed
  t.strictSame(
    (await deliveryRows(fixture)).map(({ status, worker }) => [status, worker]),
    [
      ['succeeded', null],
      ['pending', null],
      ['pending', null],
    ],
  )
  shop.answer = (_, response) => void response.end()
  await webhookService(t, fixture)
  await settled(fixture)
  t.strictSame(
    shop.events(),
    events.map(({ id }) => id),
  )
})

t.test('a delivery is not taken past an earlier one of its endpoint that waits', async (t) => {
  const fixture = await webhookFixture()
  const { deliveries, clock } = fixture
  const [worker, endpoint] = [v7(), v7()]
  await deliveries.begin(worker, new Date(clock().getTime() + 60_000))
  const add = async ({ id: event, merchant, livemode, position, resource }: PublicEvent, wanted: boolean) => {
    const row = { endpoint, merchant, livemode, event, position, resource, wanted }
    return (await deliveries.add(worker, clock(), [row])).size
  }
  const [first, second] = await allHappened(fixture, [{}, {}])
  t.equal(await add(first!, false), 0)
  t.equal(await add(second!, true), 0)
  const { deliveries: claimed } = await deliveries.claim(worker, {
    now: clock(),
    after: '',
    rooms: {},
    roomDefault: 8,
    limit: 8,
  })
  t.strictSame(
    claimed.map(({ event }) => event),
    [first!.id, second!.id],
  )
})

t.test('what was stored by a step that seemed to fail is sent', async (t) => {
  const fixture = await webhookFixture()
  const shop = await receiver(t)
  await register(fixture, shop.url)
  let isLost = true
  const deliveries = new Proxy(fixture.deliveries, {
    get(target, name) {
      const value = Reflect.get(target, name) as unknown
      if (typeof value !== 'function') return value
      const call = value.bind(target) as (...given: unknown[]) => unknown
      if (name !== 'add' || !isLost) return call
      isLost = false
      return async (...given: unknown[]) => {
        await call(...given)
        throw new Error('the connection broke before the answer came')
      }
    },
  })
  await webhookService(t, { ...fixture, deliveries })
  const event = await happened(fixture)
  await t.rejects(fixture.bus.publish([event]))
  await fixture.bus.publish([event])
  await settled(fixture)
  t.strictSame(shop.events(), [event.id])
})
