import t, { type Test } from 'tap'
import { v7 } from 'uuid'
import type { EventStore } from '../../packages/kernel/ports.ts'
import type { ReadStore } from '../../packages/kernel/ports/reads.ts'
import { Directory } from '../../services/webhooks/directory.ts'
import { command, happened, register, webhookFixture, type WebhookFixture } from '../support/webhooks.ts'

const url = 'https://shop.example/hooks'
const ignore = () => undefined
const log = { info: ignore, warn: ignore, error: ignore }

/** A directory whose subscription has told nothing yet, and the streams that it has read. */
async function lateDirectory(t: Test, fixture: WebhookFixture) {
  const read: string[] = []
  const store: EventStore = {
    ...fixture.store,
    subscribe: () => ({ close: async () => undefined }),
    readStream: (stream, ...rest) => {
      if (stream.startsWith('webhook_endpoint-')) read.push(stream)
      return fixture.store.readStream(stream, ...rest)
    },
  }
  const directory = new Directory({ ...fixture, store, log, ownersMax: 10 })
  await directory.open()
  t.teardown(() => directory.close())
  return { directory, read }
}

t.test(
  'endpoints that have not changed are not read again for events ahead of the subscription',
  async (t) => {
    const fixture = await webhookFixture()
    const id = await register(fixture, url)
    const { directory, read } = await lateDirectory(t, fixture)
    for (let count = 0; count < 3; count++) {
      await directory.reach((await happened(fixture)).position)
      t.match(await directory.enabled({ ...fixture, livemode: false }), [{ id }])
    }
    t.strictSame(read, [`webhook_endpoint-${id}`])
  },
)

t.test('what the subscription has not told yet is known, of each owner that it concerns', async (t) => {
  const fixture = await webhookFixture()
  const [owner, other] = [v7(), v7()].map((merchant) => ({ ...fixture, merchant, livemode: false }))
  const [changed, same] = [await register(owner!, url), await register(other!, url)]
  const { directory, read } = await lateDirectory(t, fixture)
  const enabledFor = async (one: typeof owner) => {
    const endpoints = await directory.enabled(one!)
    return endpoints.map(({ id, state }) => [id, state.status !== 'none' && state.enabledEvents])
  }
  t.strictSame(await enabledFor(owner), [[changed, ['*']]])
  t.strictSame(await enabledFor(other), [[same, ['*']]])

  const another = await register(owner!, url)
  await command(owner!, changed, { type: 'ReviseEndpoint', data: { enabledEvents: ['payout.*'] } })
  await directory.reach((await happened(fixture)).position)
  t.strictSame(await enabledFor(owner), [
    [changed, ['payout.*']],
    [another, ['*']],
  ])
  t.strictSame(await enabledFor(other), [[same, ['*']]])
  t.strictSame(read.filter((stream) => stream === `webhook_endpoint-${same}`).length, 1)

  await command(owner!, changed, { type: 'ReviseEndpoint', data: { enabled: false } })
  await directory.reach((await happened(fixture)).position)
  t.strictSame(await enabledFor(owner), [[another, ['*']]])
})

t.test('a position beyond the end of the log keeps nobody waiting', async (t) => {
  const fixture = await webhookFixture()
  const id = await register(fixture, url)
  const { directory } = await lateDirectory(t, fixture)
  await directory.reach((await fixture.store.head()) + 1_000_000)
  t.match(await directory.enabled({ ...fixture, livemode: false }), [{ id }])
})

t.test('what is ahead of the read model is read once, however many owners ask', async (t) => {
  const fixture = await webhookFixture()
  const owners = Array.from({ length: 5 }, () => ({ ...fixture, merchant: v7(), livemode: false }))
  const ids: string[] = []
  for (const owner of owners) ids.push(await register(owner, url))
  const looked: number[] = []
  const store: EventStore = {
    ...fixture.store,
    readAll: (after, ...rest) => {
      looked.push(after)
      return fixture.store.readAll(after, ...rest)
    },
  }
  const reads = { page: async () => ({ rows: [], position: 0 }) } as unknown as ReadStore
  const directory = new Directory({ ...fixture, store, reads, log, ownersMax: 10 })
  await directory.open()
  t.teardown(() => directory.close())
  for (const owner of owners) t.match(await directory.enabled(owner), [{ id: ids.shift() }])
  t.strictSame(looked, [0], 'nothing has been written since')
  const late = { ...fixture, merchant: v7(), livemode: false }
  const id = await register(late, url)
  t.match(await directory.enabled(late), [{ id }])
  t.equal(looked.length, 2)
  t.ok(looked[1]! > 0, 'read on from there')
})
