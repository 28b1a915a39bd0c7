import t from 'tap'
import { v7 } from 'uuid'
import { secretContext, webhookEndpoint } from '../../packages/domain/webhook-endpoints/webhook-endpoint.ts'
import { webhookRoster, webhookRosterId } from '../../packages/domain/webhook-endpoints/webhook-roster.ts'
import { DamagedStreamError, type EventStore, type Log } from '../../packages/kernel/ports.ts'
import type { WebhookGauges } from '../../services/webhooks/main.ts'
import {
  command,
  deliveryRows,
  minuteMs,
  published,
  receiver,
  register,
  secretFor,
  settled,
  until,
  webhookFixture,
  webhookService,
  type WebhookFixture,
} from '../support/webhooks.ts'

/** An event that only a newer version of the service knows, after that revision. */
async function poison({ store, merchant, clock }: WebhookFixture, id: string, after = 0): Promise<void> {
  const envelope = { merchant, livemode: false, actor: 'key:test', correlation: 'test' }
  const metadata = { ...envelope, at: clock().toISOString(), version: 1 }
  const event = { id: v7(), type: 'WebhookEndpointPaused', data: {}, metadata }
  await store.append(`webhook_endpoint-${id}`, after, [event])
}

/** As registrations do, before anything else. */
async function takeSlot({ executor, merchant }: WebhookFixture, endpoint: string): Promise<void> {
  const envelope = { merchant, livemode: false, actor: 'key:test', correlation: 'test' }
  const id = webhookRosterId(envelope)
  await executor.send(webhookRoster, id, { type: 'OpenRoster', data: { endpoints: [] } }, envelope)
  await executor.send(webhookRoster, id, { type: 'TakeSlot', data: { endpoint } }, envelope)
}

async function parked({ pool }: WebhookFixture, id: string): Promise<void> {
  const text = `select from parked where stream = $1`
  await until(async () => (await pool.query(text, [`webhook_endpoint-${id}`])).rowCount! > 0)
}

/** As if the service knew the event now. */
async function mend({ pool }: WebhookFixture, id: string, type: string, data: object): Promise<void> {
  const version = webhookEndpoint.events[type]?.version
  await pool.query(
    `update events set type = $2, data = $3, metadata = (metadata::jsonb || jsonb_build_object('version', $4::int))::json
     where stream = $1 and type = 'WebhookEndpointPaused'`,
    [`webhook_endpoint-${id}`, type, data, version],
  )
}

function errorsOf() {
  const errors: object[] = []
  const ignore = () => undefined
  const log: Log = { info: ignore, warn: ignore, error: (facts) => void errors.push(facts as object) }
  return { errors, log }
}

/** The read model stands still, with a stream of endpoints that is ahead of it, until the test lets go. */
async function holdBackReadModel({ pool }: WebhookFixture) {
  const connection = await pool.connect()
  await connection.query('begin; lock table checkpoints in share mode')
  return async () => {
    await connection.query('rollback')
    connection.release()
  }
}

for (const isBehind of [false, true]) {
  const where = isBehind ? 'that the read model has not come to' : 'that the read model has set aside'
  t.test(`an endpoint with an unreadable event ${where} keeps back its own deliveries alone`, async (t) => {
    const fixture = await webhookFixture()
    const shop = await receiver(t)
    const other = { ...fixture, merchant: v7() }
    const poisoned = await register(fixture, `${shop.url}/old`)
    await register(fixture, `${shop.url}/same-merchant`)
    await register(other, `${shop.url}/other-merchant`)
    const letGo = isBehind ? await holdBackReadModel(fixture) : undefined
    if (letGo) t.teardown(letGo)
    await poison(fixture, poisoned)
    if (!isBehind) await parked(fixture, poisoned)
    const { errors, log } = errorsOf()
    let gauges: WebhookGauges | undefined
    await webhookService(t, fixture, { log, observe: (given) => (gauges = given) })

    const events = [await published(fixture), await published(fixture, { resource: 'payout/2' })]
    const foreign = await published(other)
    await settled(fixture)
    const ids = events.map(({ id }) => id)
    t.strictSame(shop.events('/same-merchant').toSorted(), ids.toSorted())
    t.strictSame(shop.events('/other-merchant'), [foreign.id])
    t.strictSame(shop.events('/old'), [])
    t.equal(errors.length, 1, 'it is said once')
    t.equal(gauges?.unreadable(), 1)
    const waiting = (await deliveryRows(fixture)).filter(({ endpoint }) => endpoint === poisoned)
    t.match(waiting, [
      { status: 'pending', attempts: 0 },
      { status: 'pending', attempts: 0 },
    ])

    await mend(fixture, poisoned, 'WebhookEndpointRevised', { url: `${shop.url}/new`, enabledEvents: ['*'] })
    fixture.advance(minuteMs)
    await settled(fixture)
    t.strictSame(shop.events('/new').toSorted(), ids.toSorted(), 'they are made up for')
    t.strictSame(shop.events('/old'), [])
    t.equal(gauges?.unreadable(), 0)
  })
}

t.test('what was kept back for an endpoint that proves to be turned off is skipped', async (t) => {
  const fixture = await webhookFixture()
  const shop = await receiver(t)
  const id = await register(fixture, shop.url)
  await poison(fixture, id)
  await webhookService(t, fixture)
  await published(fixture)
  await settled(fixture)
  await mend(fixture, id, 'WebhookEndpointDisabled', { reason: 'merchant', event: null })
  fixture.advance(minuteMs)
  await until(async () => (await deliveryRows(fixture))[0]?.status === 'skipped')
  t.strictSame(shop.received, [])
})

/** What it was before, and what the event says that cannot be read: it is enabled for payouts. */
interface Unread {
  readonly before: (fixture: WebhookFixture, url: string) => Promise<string>
  readonly revision: number
  readonly type: string
  readonly data: (fixture: WebhookFixture, url: string, id: string) => object
}

const enabledEvents = ['payout.*']

const unread: Record<string, Unread> = {
  'registers it': {
    before: async () => v7(),
    revision: -1,
    type: 'WebhookEndpointRegistered',
    data: ({ vault }, url, id) => {
      const sealedSecret = vault.seal(secretFor(id), secretContext(id))
      return { url, enabledEvents, sealedSecret, secretLast4: 'last' }
    },
  },
  'enables it for more': {
    before: (fixture, url) => register(fixture, url, ['customer.*']),
    revision: 0,
    type: 'WebhookEndpointRevised',
    data: (_, url) => ({ url, enabledEvents }),
  },
  'turns it on': {
    before: async (fixture, url) => {
      const id = await register(fixture, url, enabledEvents)
      await command(fixture, id, { type: 'ReviseEndpoint', data: { enabled: false } })
      return id
    },
    revision: 1,
    type: 'WebhookEndpointEnabled',
    data: () => ({}),
  },
}

for (const [what, { before, revision, type, data }] of Object.entries(unread)) {
  t.test(`an endpoint misses nothing while the event that ${what} cannot be read`, async (t) => {
    const fixture = await webhookFixture()
    const shop = await receiver(t)
    const id = await before(fixture, shop.url)
    await takeSlot(fixture, id)
    await poison(fixture, id, revision)
    await parked(fixture, id)
    let gauges: WebhookGauges | undefined
    await webhookService(t, fixture, { observe: (given) => (gauges = given) })
    const wanted = await published(fixture)
    const unwanted = await published(fixture, { type: 'product.created', resource: 'product/1' })
    await settled(fixture)
    t.equal(gauges?.unreadable(), 1)
    t.strictSame(shop.received, [])

    await mend(fixture, id, type, data(fixture, shop.url, id))
    fixture.advance(minuteMs)
    await settled(fixture)
    t.strictSame(shop.events(), [wanted.id])
    const rows = await deliveryRows(fixture)
    t.equal(rows.find(({ event }) => event === unwanted.id)?.status, 'skipped')
  })
}

t.test('an endpoint whose stream the store has damaged keeps back its own deliveries alone', async (t) => {
  const fixture = await webhookFixture()
  const shop = await receiver(t)
  const id = await register(fixture, `${shop.url}/damaged`)
  await register(fixture, `${shop.url}/whole`)
  let isDamaged = true
  const damaged = `webhook_endpoint-${id}`
  const store: EventStore = {
    ...fixture.store,
    readStream: async (stream, ...rest) => {
      if (isDamaged && stream === damaged) throw new DamagedStreamError({ stream, problem: 'was cut' })
      return fixture.store.readStream(stream, ...rest)
    },
  }
  const { errors, log } = errorsOf()
  await webhookService(t, { ...fixture, store }, { log })
  const event = await published(fixture)
  await settled(fixture)
  t.strictSame(shop.events('/whole'), [event.id])
  t.strictSame(shop.events('/damaged'), [])
  t.equal(errors.length, 1)

  isDamaged = false
  fixture.advance(minuteMs)
  await settled(fixture)
  t.strictSame(shop.events('/damaged'), [event.id])
})
