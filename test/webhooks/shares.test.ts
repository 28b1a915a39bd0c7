import t, { type Test } from 'tap'
import { v7 } from 'uuid'
import type { WebhookLimits } from '../../services/webhooks/main.ts'
import {
  allHappened,
  deliveryRows,
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

/** No place becomes free by a time-out. */
const egress = { timeoutMs: 600_000 }

interface Sick {
  readonly merchants: number
  /** Of each merchant. */
  readonly endpoints: number
  /** Of each endpoint. */
  readonly events: number
}

/** Registers endpoints of other merchants; answers what makes events for all of them happen. */
async function sicken(fixture: WebhookFixture, url: string, { merchants, endpoints, events }: Sick) {
  const some = Array.from({ length: events }, (_, number) => ({ resource: `payout/${number}` }))
  const sick = await Promise.all(
    Array.from({ length: merchants }, async (_, number) => {
      const merchant = { ...fixture, merchant: v7() }
      const paths = Array.from({ length: endpoints }, (_, path) => `${url}/${number}/${path}`)
      await Promise.all(paths.map((path) => register(merchant, path)))
      return merchant
    }),
  )
  return async () => {
    for (const merchant of sick) await fixture.bus.publish(await allHappened(merchant, some))
  }
}

/** Many at once arrive although no attempt elsewhere has ended. */
async function goesOn(t: Test, fixture: WebhookFixture, shop: Awaited<ReturnType<typeof receiver>>) {
  const before = shop.received.length
  const events = Array.from({ length: 50 }, (_, number) => ({ resource: `payout/${number}` }))
  await fixture.bus.publish(await allHappened(fixture, events))
  await until(() => shop.received.length === before + events.length)
  const waiting = (await deliveryRows(fixture)).filter(({ merchant, status }) => {
    return merchant !== fixture.merchant && status === 'pending'
  })
  t.ok(waiting.length > 0)
  t.ok(
    waiting.every(({ attempts }) => attempts === 0),
    'nobody waited for the end of an attempt elsewhere',
  )
}

interface Crowd extends Sick {
  readonly limits: Partial<WebhookLimits>
}

/** In each, those who hang would have everything if they could. */
const crowds: Record<string, Crowd> = {
  'one merchant has twenty endpoints that hang': {
    ...{ merchants: 1, endpoints: 20, events: 40 },
    limits: { inFlightMax: 32 },
  },
  'twenty merchants have several endpoints each that hang': {
    ...{ merchants: 20, endpoints: 4, events: 3 },
    limits: { inFlightMax: 96 },
  },
  'the deliveries of one merchant would fill the memory': {
    ...{ merchants: 1, endpoints: 20, events: 100 },
    limits: { heldMax: 32 },
  },
  'the deliveries of twenty merchants would fill the memory': {
    ...{ merchants: 20, endpoints: 4, events: 100 },
    limits: { heldMax: 128 },
  },
}

for (const [crowd, { limits, ...sick }] of Object.entries(crowds)) {
  t.test(`a merchant's deliveries go on at once while ${crowd}`, async (t) => {
    const fixture = await webhookFixture()
    const [shop, hanging] = [await receiver(t), await receiver(t)]
    hanging.answer = () => undefined
    await register(fixture, shop.url)
    const fall = await sicken(fixture, hanging.url, sick)
    await webhookService(t, fixture, { limits, egress })
    await fall()
    await until(() => hanging.received.length >= sick.merchants)
    await goesOn(t, fixture, shop)
    t.ok(hanging.received.length < (limits.inFlightMax ?? limits.heldMax!), 'some places were left')
  })

  t.test(`a merchant's deliveries that wait go on while ${crowd}`, async (t) => {
    const fixture = await webhookFixture()
    const [shop, hanging] = [await receiver(t), await receiver(t)]
    hanging.answer = () => undefined
    const fall = await sicken(fixture, hanging.url, sick)
    const before = await webhookService(t, fixture, { limits: { ...limits, inFlightMax: 0 }, egress })
    await fall()
    await register(fixture, shop.url)
    await fixture.bus.publish(
      await allHappened(
        fixture,
        Array.from({ length: 50 }, (_, number) => ({ resource: `payout/${number}` })),
      ),
    )
    await before.close()
    await webhookService(t, fixture, { limits, egress })
    await until(() => shop.received.length === 50)
    t.ok(hanging.received.length > 0)
  })
}

t.test('endpoints that answered until a moment ago leave places when they hang', async (t) => {
  const fixture = await webhookFixture()
  const [shop, turning] = [await receiver(t), await receiver(t)]
  await register(fixture, shop.url)
  const happen = await sicken(fixture, turning.url, { merchants: 4, endpoints: 2, events: 40 })
  await webhookService(t, fixture, { limits: { inFlightMax: 64 }, egress })
  await happen()
  await settled(fixture)
  const answered = turning.received.length
  turning.answer = () => undefined
  await happen()
  await until(() => turning.received.length >= answered + 8)
  await goesOn(t, fixture, shop)
})

t.test(
  'endpoints that took their last delivery go on while more merchants hang than there are places',
  async (t) => {
    const fixture = await webhookFixture()
    const [shop, hanging] = [await receiver(t), await receiver(t)]
    hanging.answer = () => undefined
    await register(fixture, shop.url)
    const fall = await sicken(fixture, hanging.url, { merchants: 40, endpoints: 1, events: 2 })
    await webhookService(t, fixture, { limits: { inFlightMax: 32 }, egress })
    await published(fixture)
    await settled(fixture)
    await fall()
    await until(() => hanging.received.length >= 28)
    await goesOn(t, fixture, shop)
    t.equal(hanging.received.length, 28, 'the reserve was left to it')
  },
)

t.test('retries to endpoints that a process has not met yet go on while many merchants hang', async (t) => {
  const fixture = await webhookFixture()
  const [shop, hanging] = [await receiver(t), await receiver(t)]
  shop.answer = (_, response) => void response.writeHead(503).end()
  hanging.answer = () => undefined
  await register(fixture, shop.url)
  const fall = await sicken(fixture, hanging.url, { merchants: 60, endpoints: 1, events: 12 })
  const before = await webhookService(t, fixture)
  await published(fixture)
  await settled(fixture)
  await before.close()
  shop.answer = (_, response) => void response.end()
  // They leave less of it than the reserve.
  const limits = { heldMax: 720 }
  await webhookService(t, fixture, { limits, egress })
  await fall()
  await until(() => hanging.received.length >= 60)
  fixture.advance(6 * minuteMs)
  await until(async () => {
    const [retried] = (await deliveryRows(fixture)).filter(({ merchant }) => merchant === fixture.merchant)
    return retried?.status === 'succeeded'
  })
  t.equal(shop.received.length, 2)
})
