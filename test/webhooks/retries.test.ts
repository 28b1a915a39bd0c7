import t from 'tap'
import {
  command,
  deliveryRows,
  endpointState,
  minuteMs,
  published,
  receiver,
  register,
  settled,
  until,
  webhookHouse,
  webhookService,
  type House,
} from '../support/webhooks.ts'

/** Spec, Events. */
const scheduleMs = [5, 30, 120, 480, 1_440].map((minutes) => minutes * minuteMs)

/** Lets every retry of what is pending come due, one after the other. */
async function retryToTheEnd(house: House): Promise<void> {
  for (const delayMs of scheduleMs) {
    house.advance(delayMs)
    await settled(house)
  }
}

t.test(
  'a failed delivery is retried after 5 min, 30 min, 2 h, 8 h and 24 h, and never earlier',
  async (t) => {
    const house = await webhookHouse()
    const shop = await receiver(t)
    shop.answer = (_, response) => void response.writeHead(500).end('out of order\0')
    await register(house, shop.url)
    await webhookService(t, house)
    const event = await published(house)
    for (const [retry, delayMs] of scheduleMs.entries()) {
      await settled(house)
      t.equal(shop.received.length, retry + 1)
      const [row] = await deliveryRows(house)
      t.equal(row?.due_at, new Date(house.clock().getTime() + delayMs).toISOString())
      t.match(row, { status: 'pending', attempts: retry + 1, last_status: 500, last_answer: 'out of order' })
      house.advance(delayMs)
    }
    await until(async () => (await deliveryRows(house))[0]?.status === 'failed')
    t.strictSame(shop.events(), Array(6).fill(event.id))
    t.equal(
      new Set(shop.received.map(({ headers }) => headers['webhook-timestamp'])).size,
      6,
      'each attempt is signed anew',
    )
  },
)

t.test('retries of what failed together are spread over a tenth of their delay', async (t) => {
  const house = await webhookHouse()
  const shop = await receiver(t)
  shop.answer = (_, response) => void response.writeHead(503).end()
  await register(house, shop.url)
  await webhookService(t, house, { chance: 0.999_999 })
  await published(house)
  await settled(house)
  const [row] = await deliveryRows(house)
  t.equal(row?.due_at, new Date(house.clock().getTime() + 5.5 * minuteMs).toISOString())
})

t.test(
  'after the fifth failed retry the endpoint is failing, and the merchant gets one mail for all events',
  async (t) => {
    const house = await webhookHouse()
    const shop = await receiver(t)
    shop.answer = (_, response) => void response.writeHead(500).end()
    const id = await register(house, shop.url)
    await webhookService(t, house)
    const events = [
      await published(house),
      await published(house),
      await published(house, { resource: 'payout/2' }),
    ]
    await settled(house)
    house.advance(-minuteMs)
    await retryToTheEnd(house)
    t.strictSame((await endpointState(house, id)).status, 'active', 'not before the fifth retry')
    house.advance(minuteMs * 100_000)
    await until(async () => (await endpointState(house, id)).status === 'failing' && house.mails.length > 0)
    await until(async () =>
      (await deliveryRows(house)).every(({ status, worker }) => status === 'failed' && worker === null),
    )
    await until(
      async () =>
        (await house.pool.query('select from deliveries where consequence is not null')).rows.length === 0,
    )
    t.equal(shop.received.length, 6 * events.length)
    t.equal(house.mails.length, 1)
    t.match(house.mails[0], { to: `${house.merchant}@example.com`, subject: 'A webhook endpoint is failing' })
    t.notOk(JSON.stringify(house.mails).includes('whsec_'))
  },
)

t.test('a failing endpoint still gets events, and the first success makes it active again', async (t) => {
  const house = await webhookHouse()
  const shop = await receiver(t)
  const id = await register(house, shop.url)
  await command(house, id, { type: 'MarkFailing', data: { event: 'evt_earlier' } })
  await webhookService(t, house)
  shop.answer = (_, response) => void response.writeHead(500).end()
  await published(house)
  await settled(house)
  t.equal((await endpointState(house, id)).status, 'failing')
  shop.answer = (_, response) => void response.writeHead(204).end()
  await published(house)
  await until(async () => (await endpointState(house, id)).status === 'active')
  t.equal(shop.received.length, 2)
  t.strictSame(house.mails, [])
})

t.test('an endpoint that answers 410 is disabled and gets nothing more', async (t) => {
  const house = await webhookHouse()
  const shop = await receiver(t)
  const id = await register(house, shop.url)
  await webhookService(t, house)
  shop.answer = (_, response) => void response.writeHead(500).end()
  await published(house)
  await settled(house)
  shop.answer = (_, response) => void response.writeHead(410).end()
  await published(house)
  await until(async () => (await endpointState(house, id)).status === 'disabled')
  await published(house)
  house.advance(5 * minuteMs)
  await until(async () => (await deliveryRows(house)).every(({ status }) => status !== 'pending'))
  t.strictSame(
    (await deliveryRows(house)).map(({ status }) => status),
    ['skipped', 'failed'],
    'a retry is skipped',
  )
  t.equal(shop.received.length, 2)
  t.strictSame(house.mails, [])
})
