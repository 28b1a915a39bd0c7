import { createHmac } from 'node:crypto'
import { Webhook } from 'standardwebhooks'
import t from 'tap'
import { v7 } from 'uuid'
import { secretContext } from '../../packages/domain/webhook-endpoints/webhook-endpoint.ts'
import {
  command,
  deliveryRows,
  happened,
  published,
  receiver,
  register,
  secretFor,
  settled,
  until,
  webhookHouse,
  webhookService,
  type Received,
} from '../support/webhooks.ts'

/** Independent of the service: the key is the secret as it is written, the content is `t.body`. */
function ownSignature(secret: string, { headers, body }: Received): string {
  return createHmac('sha256', secret).update(`${headers['webhook-timestamp']}.${body}`).digest('hex')
}

t.test('a delivery is signed in both schemes over the exact bytes that are sent', async (t) => {
  const house = await webhookHouse()
  house.advance(Date.now() - house.clock().getTime())
  const shop = await receiver(t)
  const id = await register(house, shop.url)
  await webhookService(t, house)
  const event = await published(house, { data: { name: 'Kouamé Ağa', amount: 5_000 } })
  await settled(house)
  const [delivery] = shop.received
  t.ok(delivery)
  if (!delivery) return
  const secret = secretFor(id)
  t.equal(delivery.body, event.payload)
  t.equal(delivery.headers['webhook-id'], event.id)
  t.equal(delivery.headers['content-type'], 'application/json')
  t.equal(delivery.headers['webhook-replay'], undefined)
  t.same(
    new Webhook(secret).verify(delivery.body, delivery.headers as Record<string, string>),
    JSON.parse(event.payload),
  )
  const seconds = delivery.headers['webhook-timestamp']
  t.equal(delivery.headers['ikw-signature'], `t=${seconds},v1=${ownSignature(secret, delivery)}`)
})

t.test('an event goes to every endpoint that is enabled for its type, once, and to no other', async (t) => {
  const house = await webhookHouse()
  const shop = await receiver(t)
  await register(house, `${shop.url}/all`)
  await register(house, `${shop.url}/payouts`, ['payout.*'])
  await register(house, `${shop.url}/paid`, ['payout.paid', 'payout.failed'])
  await register(house, `${shop.url}/refunds`, ['refund.succeeded'])
  const off = await register(house, `${shop.url}/off`)
  await command(house, off, { type: 'DisableEndpoint', data: {} })
  const other = { ...house, merchant: v7() }
  await register(other, `${shop.url}/other`)
  await webhookService(t, house)
  const event = await published(house)
  await house.bus.publish([event, event])
  await settled(house)
  t.strictSame(shop.received.map(({ path }) => path).sort(), ['/all', '/paid', '/payouts'])
  t.equal((await deliveryRows(house)).length, 3)
})

t.test('an endpoint gets events from its registration on, also the one right behind it', async (t) => {
  const house = await webhookHouse()
  const shop = await receiver(t)
  await webhookService(t, house)
  const early = await happened(house)
  await register(house, shop.url)
  const late = await happened(house)
  await house.bus.publish([early, late])
  await settled(house)
  t.strictSame(shop.events(), [late.id])
})

t.test('that an endpoint is failing is told to the others', async (t) => {
  const house = await webhookHouse()
  const shop = await receiver(t)
  const failing = await register(house, `${shop.url}/failing`)
  await register(house, `${shop.url}/other`)
  await webhookService(t, house)
  await published(house, { type: 'webhook_endpoint.failing', resource: `webhook_endpoint/${failing}` })
  await settled(house)
  t.strictSame(
    shop.received.map(({ path }) => path),
    ['/other'],
  )
})

t.test('any 2xx is success; a redirect is none and is not followed', async (t) => {
  const house = await webhookHouse()
  const shop = await receiver(t)
  const statuses: Record<string, number> = {
    '/200': 200,
    '/202': 202,
    '/299': 299,
    '/301': 301,
    '/308': 308,
    '/400': 400,
  }
  shop.answer = ({ path }, response) =>
    void response.writeHead(statuses[path] ?? 200, { location: `${shop.url}/inside` }).end()
  for (const path of Object.keys(statuses)) await register(house, shop.url + path)
  await webhookService(t, house)
  await published(house)
  await settled(house)
  const rows = await deliveryRows(house)
  const succeeded = rows.filter(({ status }) => status === 'succeeded').map(({ last_status }) => last_status)
  t.strictSame(succeeded.sort(), [200, 202, 299])
  t.strictSame(shop.received.map(({ path }) => path).sort(), Object.keys(statuses).sort())
})

t.test('an endpoint that cannot be reached, is too slow or leads inside fails and is retried', async (t) => {
  const house = await webhookHouse()
  const shop = await receiver(t)
  shop.answer = () => undefined
  await register(house, shop.url)
  await register(house, 'http://127.0.0.1:1/')
  await register(house, 'http://10.0.0.1/')
  await webhookService(t, house, { egress: { timeoutMs: 100 } })
  await published(house)
  await settled(house)
  const answers = (await deliveryRows(house)).map(
    ({ status, last_answer }) => `${status} ${last_answer?.split(':')[0]}`,
  )
  t.strictSame(answers.sort(), ['pending AddressRefused', 'pending CallTimedOut', 'pending ECONNREFUSED'])
})

t.test('a new secret signs at once and first, the old one as well until its time has run out', async (t) => {
  const house = await webhookHouse()
  const shop = await receiver(t)
  const id = await register(house, shop.url)
  await webhookService(t, house)
  const next = secretFor('next')
  const rotation = {
    sealedSecret: house.vault.seal(next, secretContext(id)),
    secretLast4: next.slice(-4),
    overlapSeconds: 86_400,
  }
  await command(house, id, { type: 'RotateSecret', data: rotation })
  await published(house)
  await settled(house)
  house.advance(86_400_000)
  await published(house)
  await settled(house)
  const [during, after] = shop.received
  t.ok(during && after)
  if (!during || !after) return
  const [seconds] = `${during.headers['ikw-signature']}`.split(',')
  t.equal(
    during.headers['ikw-signature'],
    `${seconds},v1=${ownSignature(next, during)},v1=${ownSignature(secretFor(id), during)}`,
  )
  t.equal(`${during.headers['webhook-signature']}`.split(' ').length, 2)
  t.equal(
    after.headers['ikw-signature'],
    `t=${after.headers['webhook-timestamp']},v1=${ownSignature(next, after)}`,
  )
  t.equal(`${after.headers['webhook-signature']}`.split(' ').length, 1)
})

t.test('signing secrets stand nowhere in the clear', async (t) => {
  const house = await webhookHouse()
  const shop = await receiver(t)
  const id = await register(house, shop.url)
  await webhookService(t, house)
  await published(house)
  await settled(house)
  const tables = await house.pool.query<{ name: string }>(`
    select format('%I.%I', table_schema, table_name) as name from information_schema.tables
    where table_type = 'BASE TABLE' and table_schema in ('public', 'read')`)
  const bare = secretFor(id).slice('whsec_'.length)
  for (const { name } of tables.rows) {
    const { rows } = await house.pool.query(
      `select from ${name} as row where row::text like '%whsec_%' or strpos(row::text, $1) > 0`,
      [bare],
    )
    t.equal(rows.length, 0, name)
  }
  t.equal(
    (await house.pool.query(`select from events where strpos(data::text, right($1, 4)) > 0`, [bare])).rows
      .length,
    1,
  )
})
