import { createHmac } from 'node:crypto'
import { Webhook } from 'standardwebhooks'
import t from 'tap'
import { v7 } from 'uuid'
import { secretContext, webhookEndpoint } from '../../packages/domain/webhook-endpoints/webhook-endpoint.ts'
import { lawOver } from '../support/law.ts'
import {
  allHappened,
  command,
  deliveryRows,
  happened,
  published,
  type Received,
  receiver,
  register,
  secretFor,
  settled,
  until,
  webhookFixture,
  webhookService,
} from '../support/webhooks.ts'

/** Independent of the service: the key is the secret as it is written, the content is `t.body`. */
function ownSignature(secret: string, { headers, body }: Received): string {
  return createHmac('sha256', secret).update(`${headers['webhook-timestamp']}.${body}`).digest('hex')
}

t.test('a delivery is signed in both schemes over the exact bytes that are sent', async (t) => {
  const fixture = await webhookFixture()
  fixture.advance(Date.now() - fixture.clock().getTime())
  const shop = await receiver(t)
  const id = await register(fixture, shop.url)
  await webhookService(t, fixture)
  const event = await published(fixture, { data: { name: 'Kouamé Ağa', amount: 5_000 } })
  await settled(fixture)
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
  const fixture = await webhookFixture()
  const shop = await receiver(t)
  await register(fixture, `${shop.url}/all`)
  await register(fixture, `${shop.url}/payouts`, ['payout.*'])
  await register(fixture, `${shop.url}/paid`, ['payout.paid', 'payout.failed'])
  await register(fixture, `${shop.url}/refunds`, ['refund.succeeded'])
  const off = await register(fixture, `${shop.url}/off`)
  await command(fixture, off, { type: 'ReviseEndpoint', data: { enabled: false } })
  const other = { ...fixture, merchant: v7() }
  await register(other, `${shop.url}/other`)
  await webhookService(t, fixture)
  const event = await published(fixture)
  await fixture.bus.publish([event, event])
  await settled(fixture)
  t.strictSame(shop.received.map(({ path }) => path).sort(), ['/all', '/paid', '/payouts'])
  t.equal((await deliveryRows(fixture)).length, 3)
})

t.test('an endpoint gets events from its registration on, also the one right behind it', async (t) => {
  const fixture = await webhookFixture()
  const shop = await receiver(t)
  await webhookService(t, fixture)
  const early = await happened(fixture)
  await register(fixture, shop.url)
  const late = await happened(fixture)
  await fixture.bus.publish([early, late])
  await settled(fixture)
  t.strictSame(shop.events(), [late.id])
})

t.test('that an endpoint is failing is told to the others', async (t) => {
  const fixture = await webhookFixture()
  const shop = await receiver(t)
  const failing = await register(fixture, `${shop.url}/failing`)
  await register(fixture, `${shop.url}/other`)
  await webhookService(t, fixture)
  await published(fixture, { type: 'webhook_endpoint.failing', resource: `webhook_endpoint/${failing}` })
  await settled(fixture)
  t.strictSame(
    shop.received.map(({ path }) => path),
    ['/other'],
  )
})

t.test('any 2xx is success; a redirect is none and is not followed', async (t) => {
  const fixture = await webhookFixture()
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
  for (const path of Object.keys(statuses)) await register(fixture, shop.url + path)
  await webhookService(t, fixture)
  await published(fixture)
  await settled(fixture)
  const rows = await deliveryRows(fixture)
  const succeeded = rows.filter(({ status }) => status === 'succeeded').map(({ last_status }) => last_status)
  t.strictSame(succeeded.sort(), [200, 202, 299])
  t.strictSame(shop.received.map(({ path }) => path).sort(), Object.keys(statuses).sort())
})

t.test('an endpoint that cannot be reached, is too slow or leads inside fails and is retried', async (t) => {
  const fixture = await webhookFixture()
  const shop = await receiver(t)
  shop.answer = () => undefined
  await register(fixture, shop.url)
  await register(fixture, 'http://127.0.0.1:1/')
  await register(fixture, 'http://10.0.0.1/')
  await webhookService(t, fixture, { egress: { timeoutMs: 100 } })
  await published(fixture)
  await settled(fixture)
  const answers = (await deliveryRows(fixture)).map(
    ({ status, last_answer }) => `${status} ${last_answer?.split(':')[0]}`,
  )
  t.strictSame(answers.sort(), [
    'pending AddressRefusedError',
    'pending CallTimedOutError',
    'pending ECONNREFUSED',
  ])
})

t.test('a new secret signs at once and first, the old one as well until its time has run out', async (t) => {
  const fixture = await webhookFixture()
  const shop = await receiver(t)
  const id = await register(fixture, shop.url)
  await webhookService(t, fixture)
  const next = secretFor('next')
  const rotation = {
    sealedSecret: fixture.vault.seal(next, secretContext(id)),
    secretLast4: next.slice(-4),
    overlapSeconds: 86_400,
  }
  await command(fixture, id, { type: 'RotateSecret', data: rotation })
  await published(fixture)
  await settled(fixture)
  fixture.advance(86_400_000)
  await published(fixture)
  await settled(fixture)
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
  const fixture = await webhookFixture()
  const shop = await receiver(t)
  const id = await register(fixture, shop.url)
  await webhookService(t, fixture)
  await published(fixture)
  await settled(fixture)
  const tables = await fixture.pool.query<{ name: string }>(`
    select format('%I.%I', table_schema, table_name) as name from information_schema.tables
    where table_type = 'BASE TABLE' and table_schema in ('public', 'read')`)
  const bare = secretFor(id).slice('whsec_'.length)
  await lawOver(t, tables.rows, async ({ name }) => {
    const { rows } = await fixture.pool.query(
      `select from ${name} as row where row::text like '%whsec_%' or strpos(row::text, $1) > 0`,
      [bare],
    )
    t.equal(rows.length, 0, name)
  })
  t.equal(
    (await fixture.pool.query(`select from events where strpos(data::text, right($1, 4)) > 0`, [bare])).rows
      .length,
    1,
  )
})

t.test('a secret that cannot be opened keeps back the deliveries of its endpoint alone', async (t) => {
  const fixture = await webhookFixture()
  const shop = await receiver(t)
  const id = v7()
  const data = {
    url: `${shop.url}/sealed`,
    enabledEvents: ['*'],
    sealedSecret: fixture.vault.seal('whsec_b3RoZXI=', 'of another endpoint'),
    secretLast4: 'XI=a',
  }
  const envelope = { merchant: fixture.merchant, livemode: false, actor: 'key:test', correlation: 'test' }
  await fixture.executor.send(webhookEndpoint, id, { type: 'RegisterEndpoint', data }, envelope)
  await register(fixture, `${shop.url}/open`)
  const errors: unknown[] = []
  const ignore = () => undefined
  const log = { info: ignore, warn: ignore, error: (facts: unknown) => void errors.push(facts) }
  await webhookService(t, fixture, { log })
  const events = [await published(fixture), await published(fixture, { resource: 'payout/2' })]
  await settled(fixture)
  t.strictSame(
    shop.events(),
    events.map((event) => event.id),
  )
  t.equal(errors.length, 1, 'it is logged once, and not for each delivery')
  const [row] = (await deliveryRows(fixture)).filter(({ endpoint }) => endpoint === id)
  t.match(row, { status: 'pending', attempts: 0, due_at: String })
})

t.test(
  'every enabled endpoint gets its events, also where there are more than may be registered',
  async (t) => {
    const fixture = await webhookFixture()
    const shop = await receiver(t)
    const ids = await Promise.all(
      Array.from({ length: 120 }, (_, number) => register(fixture, `${shop.url}/${number}`)),
    )
    const off = ids.slice(0, 10)
    await Promise.all(
      off.map((id) => command(fixture, id, { type: 'ReviseEndpoint', data: { enabled: false } })),
    )
    await webhookService(t, fixture)
    await published(fixture)
    await settled(fixture)
    t.equal(new Set(shop.received.map(({ path }) => path)).size, ids.length - off.length)
  },
)

t.test('an endpoint that fails gets fewer requests at once, down to one', async (t) => {
  const fixture = await webhookFixture()
  const shop = await receiver(t)
  await register(fixture, `${shop.url}/failing`)
  await register(fixture, `${shop.url}/healthy`)
  await webhookService(t, fixture)
  const many = Array.from({ length: 40 }, (_, number) => ({ resource: `payout/${number}` }))
  const publish = async () => fixture.bus.publish(await allHappened(fixture, many))
  const answer = (status: number) =>
    (shop.answer = ({ path }, response) => {
      response.writeHead(path === '/failing' ? status : 200).end()
    })
  for (const status of [200, 500]) {
    answer(status)
    await publish()
    await settled(fixture)
  }
  const before = shop.events('/failing').length
  shop.answer = ({ path }, response) => void (path === '/healthy' && response.end())
  await publish()
  await until(() => shop.events('/healthy').length === 3 * many.length)
  t.equal(shop.events('/failing').length - before, 1)
})
