import t from 'tap'
import {
  allHappened,
  published,
  receiver,
  register,
  settled,
  webhookFixture,
  webhookService,
} from '../support/webhooks.ts'

t.test(
  'the deliveries of an endpoint that gets little are found among all events of its owner',
  async (t) => {
    const fixture = await webhookFixture()
    const shop = await receiver(t)
    const endpoint = await register(fixture, shop.url, ['payout.failed'])
    await webhookService(t, fixture)
    const rare: string[] = []
    for (let count = 0; count < 3; count++) {
      rare.unshift((await published(fixture, { type: 'payout.failed' })).id)
      await allHappened(
        fixture,
        Array.from({ length: 1_200 }, () => ({})),
      )
    }
    await settled(fixture)
    const { publicEvents: events } = fixture
    const query = { endpoint, merchant: fixture.merchant, livemode: false, limit: 2 }
    const found: string[] = []
    let pages = 0
    for (let before: number | undefined; ;) {
      const { deliveries, next } = await events.deliveriesTo({ ...query, before })
      found.push(...deliveries.map(({ event }) => event))
      pages++
      if (next === undefined) break
      before = next
    }
    t.strictSame(found, rare)
    t.ok(pages > 3, 'no page looks at all of them')
    t.strictSame((await events.deliveriesTo({ ...query, livemode: true })).deliveries, [])
  },
)
