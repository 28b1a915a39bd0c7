import t from 'tap'
import { v7 } from 'uuid'
import { MailDeferredError, MailRefusedError, type Mail } from '../../packages/kernel/ports.ts'
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
  webhookFixture,
  webhookService,
  type WebhookFixture,
} from '../support/webhooks.ts'

/** Spec, Events. */
const scheduleMs = [5, 30, 120, 480, 1_440].map((minutes) => minutes * minuteMs)

/** Lets every retry of what is pending come due, one after the other. */
async function retryToTheEnd(fixture: WebhookFixture): Promise<void> {
  for (const delayMs of scheduleMs) {
    fixture.advance(delayMs)
    await settled(fixture)
  }
}

t.test(
  'a failed delivery is retried after 5 min, 30 min, 2 h, 8 h and 24 h, and never earlier',
  async (t) => {
    const fixture = await webhookFixture()
    const shop = await receiver(t)
    shop.answer = (_, response) => void response.writeHead(500).end('out of order\0')
    await register(fixture, shop.url)
    await webhookService(t, fixture)
    const event = await published(fixture)
    for (const [retry, delayMs] of scheduleMs.entries()) {
      await settled(fixture)
      t.equal(shop.received.length, retry + 1)
      const [row] = await deliveryRows(fixture)
      t.equal(row?.due_at, new Date(fixture.clock().getTime() + delayMs).toISOString())
      t.match(row, { status: 'pending', attempts: retry + 1, last_status: 500, last_answer: 'out of order' })
      fixture.advance(delayMs)
    }
    await until(async () => (await deliveryRows(fixture))[0]?.status === 'failed')
    t.strictSame(shop.events(), Array(6).fill(event.id))
    t.equal(
      new Set(shop.received.map(({ headers }) => headers['webhook-timestamp'])).size,
      6,
      'each attempt is signed anew',
    )
  },
)

t.test('retries of what failed together are spread over a tenth of their delay', async (t) => {
  const fixture = await webhookFixture()
  const shop = await receiver(t)
  shop.answer = (_, response) => void response.writeHead(503).end()
  await register(fixture, shop.url)
  await webhookService(t, fixture, { chance: 0.999_999 })
  await published(fixture)
  await settled(fixture)
  const [row] = await deliveryRows(fixture)
  t.equal(row?.due_at, new Date(fixture.clock().getTime() + 5.5 * minuteMs).toISOString())
})

t.test(
  'after the fifth failed retry the endpoint is failing, and the merchant gets one mail for all events',
  async (t) => {
    const fixture = await webhookFixture()
    const shop = await receiver(t)
    shop.answer = (_, response) => void response.writeHead(500).end()
    const id = await register(fixture, shop.url)
    await webhookService(t, fixture)
    const events = [
      await published(fixture),
      await published(fixture),
      await published(fixture, { resource: 'payout/2' }),
    ]
    await settled(fixture)
    fixture.advance(-minuteMs)
    await retryToTheEnd(fixture)
    t.strictSame((await endpointState(fixture, id)).status, 'active', 'not before the fifth retry')
    fixture.advance(minuteMs * 100_000)
    await until(
      async () => (await endpointState(fixture, id)).status === 'failing' && fixture.mails.length > 0,
    )
    await until(async () =>
      (await deliveryRows(fixture)).every(({ status, worker }) => status === 'failed' && worker === null),
    )
    await until(
      async () =>
        (await fixture.pool.query('select from deliveries where consequence is not null')).rows.length === 0,
    )
    t.equal(shop.received.length, 6 * events.length)
    t.equal(fixture.mails.length, 1)
    t.match(fixture.mails[0], {
      to: `${fixture.merchant}@example.com`,
      subject: 'A webhook endpoint is failing',
    })
    t.notOk(JSON.stringify(fixture.mails).includes('whsec_'))
  },
)

t.test('a failing endpoint still gets events, and the first success makes it active again', async (t) => {
  const fixture = await webhookFixture()
  const shop = await receiver(t)
  const id = await register(fixture, shop.url)
  await command(fixture, id, { type: 'MarkFailing', data: { event: 'evt_earlier' } })
  await webhookService(t, fixture)
  shop.answer = (_, response) => void response.writeHead(500).end()
  await published(fixture)
  await settled(fixture)
  t.equal((await endpointState(fixture, id)).status, 'failing')
  shop.answer = (_, response) => void response.writeHead(204).end()
  await published(fixture)
  await until(async () => (await endpointState(fixture, id)).status === 'active')
  t.equal(shop.received.length, 2)
  t.strictSame(fixture.mails, [])
})

t.test('an endpoint that answers 410 is disabled and gets nothing more', async (t) => {
  const fixture = await webhookFixture()
  const shop = await receiver(t)
  const id = await register(fixture, shop.url)
  await webhookService(t, fixture)
  shop.answer = (_, response) => void response.writeHead(500).end()
  await published(fixture)
  await settled(fixture)
  shop.answer = (_, response) => void response.writeHead(410).end()
  await published(fixture)
  await until(async () => (await endpointState(fixture, id)).status === 'disabled')
  await published(fixture)
  fixture.advance(5 * minuteMs)
  await until(async () => (await deliveryRows(fixture)).every(({ status }) => status !== 'pending'))
  t.strictSame(
    (await deliveryRows(fixture)).map(({ status }) => status),
    ['skipped', 'failed'],
    'a retry is skipped',
  )
  t.equal(shop.received.length, 2)
  t.match(fixture.mails, [
    { to: `${fixture.merchant}@example.com`, subject: 'A webhook endpoint was turned off', text: /410/ },
  ])
})

t.test('many answers of 410 at once turn an endpoint off once, with one mail', async (t) => {
  const fixture = await webhookFixture()
  const shop = await receiver(t)
  shop.answer = (_, response) => void response.writeHead(410).end()
  await register(fixture, shop.url)
  await webhookService(t, fixture)
  for (let number = 0; number < 8; number++) await published(fixture, { resource: `payout/${number}` })
  await consequencesSettled(fixture)
  t.equal(fixture.mails.length, 1)
})

/** Marks an endpoint of a merchant of its own as failing, in front of a mailer. */
async function exhausted(fixture: WebhookFixture, url: string): Promise<WebhookFixture> {
  const other = { ...fixture, merchant: v7() }
  await register(other, url)
  await published(other)
  return other
}

/** So many consequences of deliveries wait, those under way among them. */
async function consequencesWait({ pool }: WebhookFixture, count: number): Promise<void> {
  const waiting = 'select from deliveries where consequence is not null'
  await until(async () => (await pool.query(waiting)).rows.length === count)
}

async function consequencesSettled({ pool }: WebhookFixture): Promise<void> {
  const open = `select from deliveries where consequence is not null or status = 'pending'`
  await until(async () => (await pool.query(open)).rows.length === 0)
}

t.test('a mail that is refused is given up at once, and keeps no mail of others waiting', async (t) => {
  const fixture = await webhookFixture()
  const shop = await receiver(t)
  shop.answer = (_, response) => void response.writeHead(410).end()
  const tried: string[] = []
  const refused = new Set<string>()
  let isHeld = true
  const mailer = {
    send: async ({ to }: Mail) => {
      tried.push(to)
      await until(() => !isHeld)
      if (refused.has(to)) throw new MailRefusedError('550 no such user')
    },
  }
  await webhookService(t, fixture, { mailer })
  const merchants: string[] = []
  for (let number = 0; number < 6; number++) {
    const { merchant } = await exhausted(fixture, `${shop.url}/${number}`)
    merchants.push(`${merchant}@example.com`)
    if (number % 2 === 0) refused.add(merchants.at(-1)!)
  }
  // Behind the first one, the others go out in one round.
  await consequencesWait(fixture, merchants.length)
  isHeld = false
  await consequencesSettled(fixture)
  t.strictSame(tried.toSorted(), merchants.toSorted(), 'each was tried once')
})

t.test('a mail that the server wants later keeps no mail of others waiting', async (t) => {
  const fixture = await webhookFixture()
  const shop = await receiver(t)
  shop.answer = (_, response) => void response.writeHead(410).end()
  const sent: string[] = []
  let [isHeld, later]: [boolean, string | undefined] = [true, undefined]
  const mailer = {
    send: async ({ to }: Mail) => {
      const isFirst = isHeld
      await until(() => !isHeld)
      if (!isFirst) later ??= to
      if (to === later) throw new MailDeferredError('451 greylisted')
      sent.push(to)
    },
  }
  await webhookService(t, fixture, { mailer })
  const merchants: string[] = []
  for (let number = 0; number < 4; number++)
    merchants.push(`${(await exhausted(fixture, `${shop.url}/${number}`)).merchant}@example.com`)
  // Behind the first one, the others go out in one round, of which the first is wanted later.
  await consequencesWait(fixture, merchants.length)
  isHeld = false
  await until(() => sent.length === 3)
  t.strictSame(sent.toSorted(), merchants.filter((to) => to !== later).toSorted())
  const text = `select from deliveries where (consequence ->> 'tries')::integer >= 1 and worker is null`
  await until(async () => (await fixture.pool.query(text)).rows.length === 1)
})

t.test('while the mail server is away mails wait, longer each time, and then go out once', async (t) => {
  const fixture = await webhookFixture()
  const shop = await receiver(t)
  shop.answer = (_, response) => void response.writeHead(410).end()
  const sent: string[] = []
  let isAway = true
  let tries = 0
  const mailer = {
    send: async ({ to }: Mail) => {
      tries += 1
      if (isAway) throw new Error('connect ECONNREFUSED')
      sent.push(to)
    },
  }
  await webhookService(t, fixture, { mailer })
  const merchants: string[] = []
  for (let number = 0; number < 3; number++)
    merchants.push((await exhausted(fixture, `${shop.url}/${number}`)).merchant)
  const text = `select from deliveries where (consequence ->> 'notBefore')::timestamptz = $1 and worker is null`
  const allWait = async (ms: number) =>
    (await fixture.pool.query(text, [new Date(fixture.clock().getTime() + ms)])).rows.length === 3
  await until(() => allWait(5_000))
  const afterFirst = tries
  fixture.advance(5_000)
  await until(() => allWait(10_000))
  t.equal(tries, afterFirst + 1, 'of one round, one mail finds out')
  isAway = false
  fixture.advance(10_000)
  await consequencesSettled(fixture)
  t.strictSame(sent.toSorted(), merchants.map((merchant) => `${merchant}@example.com`).toSorted())
})

t.test('a mail that nobody has taken for two days is given up, and the endpoint shows why', async (t) => {
  const fixture = await webhookFixture()
  const shop = await receiver(t)
  shop.answer = (_, response) => void response.writeHead(410).end()
  let tries = 0
  const mailer = {
    send: async () => {
      tries += 1
      throw new Error('connect ECONNREFUSED')
    },
  }
  await webhookService(t, fixture, { mailer })
  const id = await register(fixture, shop.url)
  const begun = fixture.clock().getTime()
  await published(fixture)
  const text = `
    select consequence is null as "isGivenUp", coalesce((consequence ->> 'tries')::integer, 0) as tries
    from deliveries where worker is null and status = 'failed'`
  const shown = async () => (await fixture.pool.query<{ isGivenUp: boolean; tries: number }>(text)).rows[0]
  for (let times = 1, isGivenUp = false; !isGivenUp; times++) {
    await until(async () => {
      const row = await shown()
      isGivenUp = row?.isGivenUp === true
      return isGivenUp || (row !== undefined && row.tries >= times)
    })
    if (times > 100) return t.fail('it is tried for ever')
    fixture.advance(60 * minuteMs)
  }
  t.ok(fixture.clock().getTime() - begun > 2 * 24 * 60 * minuteMs, `after ${tries} tries`)
  t.match(await endpointState(fixture, id), { status: 'disabled' })
})
