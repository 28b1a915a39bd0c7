import type { ServerResponse } from 'node:http'
import t from 'tap'
import { v7 } from 'uuid'
import {
  allHappened,
  deliveryRows,
  happened,
  published,
  receiver,
  register,
  settled,
  until,
  webhookHouse,
  webhookService,
} from '../support/webhooks.ts'

t.test('events of one resource arrive in their order, each when the attempt before has ended', async (t) => {
  const house = await webhookHouse()
  const shop = await receiver(t)
  await register(house, shop.url)
  const open = new Map<unknown, ServerResponse>()
  shop.answer = ({ headers }, response) => void open.set(headers['webhook-id'], response)
  await webhookService(t, house)
  const events = []
  for (let number = 0; number < 4; number++) events.push(await happened(house))
  const elsewhere = await happened(house, { resource: 'payout/2' })
  await house.bus.publish([...events, elsewhere])
  await until(() => open.has(elsewhere.id))
  t.equal(shop.mostAtOnce.get('/'), 2, 'another resource need not wait')
  open.get(elsewhere.id)?.end()
  for (const [index, { id }] of events.entries()) {
    await until(() => open.has(id))
    t.equal(open.size, index + 2, 'no later one was sent before')
    open
      .get(id)
      ?.writeHead(index === 1 ? 500 : 200)
      .end()
  }
  await settled(house)
  t.equal(shop.received.length, 5, 'one that failed holds up nobody')
})

t.test(
  'many events of many resources arrive once, in the order of each resource, also when memory is full',
  async (t) => {
    const house = await webhookHouse()
    const shop = await receiver(t)
    shop.answer = ({ path }, response) => setTimeout(() => response.end(), path === '/slow' ? 3 : 0)
    await register(house, `${shop.url}/slow`)
    await register(house, `${shop.url}/fast`)
    await webhookService(t, house, { limits: { perEndpointMax: 2, heldMax: 12 } })
    const events = []
    for (let number = 0; number < 300; number++)
      events.push(await happened(house, { resource: `payout/${number % 7}` }))
    for (let start = 0; start < events.length; start += 50)
      await house.bus.publish(events.slice(start, start + 50))
    await settled(house)
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
  const house = await webhookHouse()
  const shop = await receiver(t)
  shop.answer = ({ path }, response) => void (path === '/good' && response.end())
  for (let number = 0; number < 10; number++) await register(house, `${shop.url}/dead${number}`)
  const good = await register(house, `${shop.url}/good`)
  await webhookService(t, house, { limits: { perEndpointMax: 2, inFlightMax: 22, heldMax: 200 } })
  const events = await allHappened(
    house,
    Array.from({ length: 100 }, (_, number) => ({ resource: `payout/${number}` })),
  )
  await house.bus.publish(events)
  await until(() => shop.events('/good').length === 100)
  const dead = (await deliveryRows(house)).filter(({ endpoint }) => endpoint !== good)
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
    const house = await webhookHouse()
    const shop = await receiver(t)
    const id = await register(house, shop.url)
    const { deliveries } = house
    const killed = v7()
    await deliveries.begin(killed, new Date(house.clock().getTime() + 30_000))
    const [first, second] = [await happened(house), await happened(house)]
    const rowOf = (event: typeof first) => ({ ...event, endpoint: id, event: event.id, wanted: true })
    t.equal((await deliveries.add(killed, house.clock(), [rowOf(first)])).size, 1)
    await webhookService(t, house, { limits: { leaseMs: 60 } })
    await house.bus.publish([first, second])
    const elsewhere = await published(house, { resource: 'payout/2' })
    await until(async () =>
      (await deliveryRows(house)).some(
        ({ event, status }) => event === elsewhere.id && status === 'succeeded',
      ),
    )
    const inHand = (await deliveryRows(house))
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
    house.advance(30_001)
    await settled(house)
    t.strictSame(shop.events(), [elsewhere.id, first.id, second.id])
    t.ok(
      (await deliveryRows(house)).every(({ status, attempts }) => status === 'succeeded' && attempts === 1),
    )
  },
)

t.test('who comes second finds what the first has in hand since it was alone', async (t) => {
  const house = await webhookHouse()
  const shop = await receiver(t)
  await register(house, shop.url)
  const open: ServerResponse[] = []
  shop.answer = ({ body }, response) => void (body.includes('"slow"') ? open.push(response) : response.end())
  await webhookService(t, house, { limits: { leaseMs: 60 } })
  await published(house, { resource: 'payout/1' })
  const slow = await published(house, { resource: 'payout/2', data: { kind: 'slow' } })
  await published(house, { resource: 'payout/3' })
  await until(() => open.length === 1)
  const placeOf = async () =>
    (
      await house.pool.query<{ place: string | null; isNext: boolean }>(
        `select place, deliveries.id = unlisted_after + 1 as "isNext" from deliveries, webhook_workers
         where event = $1 and worker = webhook_workers.id`,
        [slow.id],
      )
    ).rows[0]
  await until(async () => (await placeOf())?.isNext === true)
  t.equal((await placeOf())?.place, null, 'nobody else is there to look for it')
  await house.deliveries.begin(v7(), new Date(house.clock().getTime() + 30_000))
  t.equal((await placeOf())?.place, 'held')
  open[0]?.end()
  await settled(house)
})

t.test('who has no lease takes nothing in hand', async (t) => {
  const house = await webhookHouse()
  const shop = await receiver(t)
  const endpoint = await register(house, shop.url)
  const event = await happened(house)
  const nobody = v7()
  const row = { ...event, endpoint, event: event.id, wanted: true }
  t.equal((await house.deliveries.add(nobody, house.clock(), [row])).size, 0)
  const claim = { now: house.clock(), after: '', rooms: {}, roomDefault: 1, limit: 1 }
  t.strictSame(await house.deliveries.claim(nobody, claim), { deliveries: [], after: '' })
  await house.deliveries.begin(nobody, new Date(house.clock().getTime() + 30_000))
  t.equal((await house.deliveries.claim(nobody, claim)).deliveries.length, 1)
})

t.test('a process that was taken for dead gives up what it had and goes on under another name', async (t) => {
  const house = await webhookHouse()
  const shop = await receiver(t)
  await register(house, shop.url)
  await webhookService(t, house, { limits: { leaseMs: 60 } })
  const [before] = (await house.pool.query<{ id: string }>('select id from webhook_workers')).rows
  await house.pool.query('delete from webhook_workers')
  await until(async () => (await house.pool.query('select from webhook_workers')).rows.length === 1)
  const [after] = (await house.pool.query<{ id: string }>('select id from webhook_workers')).rows
  t.not(before?.id, after?.id)
  const event = await published(house)
  await settled(house)
  t.strictSame(shop.events(), [event.id])
})

t.test('a service that stops gives back what it has not begun, and the next one sends it', async (t) => {
  const house = await webhookHouse()
  const shop = await receiver(t)
  await register(house, shop.url)
  const answered = new Promise<ServerResponse>(
    (arrived) => (shop.answer = (_, response) => arrived(response)),
  )
  const first = await webhookService(t, house, { limits: { perEndpointMax: 1 } })
  const events = [await happened(house), await happened(house), await happened(house)]
  await house.bus.publish(events)
  const response = await answered
  const closed = first.close()
  response.end()
  await closed
  t.strictSame(
    (await deliveryRows(house)).map(({ status, worker }) => [status, worker]),
    [
      ['succeeded', null],
      ['pending', null],
      ['pending', null],
    ],
  )
  shop.answer = (_, response) => void response.end()
  await webhookService(t, house)
  await settled(house)
  t.strictSame(
    shop.events(),
    events.map(({ id }) => id),
  )
})
