import t, { type Test } from 'tap'
import { ikw, type Settings } from '../support/cli.ts'
import { EventStoreDbPeer } from '../support/eventstoredb-peer/peer.ts'
import { MovingMerchant } from '../support/processes/movable-service.ts'
import { testDatabase } from '../support/postgres.ts'

/** A server of its own, unless one is given: an empty one. */
async function eventStoreDb(t: Test): Promise<string> {
  const peer = await EventStoreDbPeer.start()
  t.teardown(() => peer.stop())
  return peer.url
}

/** What must hold wherever the service has come to: nothing is done again, and everything goes on. */
async function expectToGoOn(t: Test, merchant: MovingMerchant, places: Settings): Promise<void> {
  const heard = merchant.heard.length
  await merchant.start(places)
  await merchant.settled()
  t.equal(merchant.heard.length, heard, 'no webhook is delivered again')
  const pending = await merchant.requestPayout()
  await merchant.endPayout(await merchant.requestPayout(), 'paid')
  await merchant.pay()
  await merchant.settled()
  t.equal(new Set(merchant.heard).size, merchant.heard.length, 'each webhook is delivered once')
  t.ok(merchant.heard.length > heard, 'new webhooks are delivered')
  for (const command of ['verify', 'replay']) {
    t.match(await ikw(merchant.settings(places), 'ledger', command), { code: 0 }, `ledger ${command}`)
  }
  t.same((await merchant.service.runtime.postgres.pool.query('select from parked')).rowCount, 0)
  await merchant.endPayout(pending, 'failed')
}

t.test('a history moves from store to store, and the service goes on in each of them', async (t) => {
  const databases = await Promise.all([1, 2, 3].map(() => testDatabase(t)))
  const [first, second, third] = databases.map(({ url }) => url) as [string, string, string]
  const servers = [await eventStoreDb(t), await eventStoreDb(t)] as const
  const embedded = { POSTGRES_URL: first }
  const merchant = new MovingMerchant(t)
  await merchant.start(embedded)
  await merchant.listen()
  const open = await merchant.requestPayout()
  await merchant.endPayout(await merchant.requestPayout(), 'paid')
  await merchant.endPayout(await merchant.requestPayout(), 'failed')
  await merchant.pay()
  await merchant.settled()

  const steps = [
    {
      name: 'embedded to EventStoreDB, beside the same database',
      command: ['--from', first, '--to', servers[0]],
      from: embedded,
      to: { POSTGRES_URL: first, EVENTSTORE_URL: servers[0] },
    },
    {
      name: 'EventStoreDB to embedded, in a new database',
      command: ['--from', servers[0], '--to', second],
      from: { POSTGRES_URL: first, EVENTSTORE_URL: servers[0] },
      to: { POSTGRES_URL: second },
    },
    {
      name: 'embedded to EventStoreDB, beside a new database',
      command: ['--from', second, '--to', servers[1], '--to-postgres', third],
      from: { POSTGRES_URL: second },
      to: { POSTGRES_URL: third, EVENTSTORE_URL: servers[1] },
    },
  ]
  for (const { name, command, from, to } of steps) {
    await t.test(name, async (t) => {
      const told = await merchant.operators()
      await merchant.stop()
      const copied = await ikw(merchant.settings(from), 'events', 'copy', ...command)
      t.equal(copied.code, 0, copied.stderr)
      t.match(copied.stdout, /Both hold the same/)
      const digests = [from, to].map((places) => ikw(merchant.settings(places), 'events', 'digest'))
      const [before, after] = await Promise.all(digests)
      t.equal(before!.stdout, after!.stdout, before!.stderr + after!.stderr)
      await expectToGoOn(t, merchant, to)
      t.match(await merchant.operators(), told, 'operators are not told again of what they know')
    })
  }
  await merchant.endPayout(open, 'paid')
})
