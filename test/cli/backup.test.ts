import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { ikw, jsonOf } from '../support/cli.ts'
import { EventStoreDbPeer } from '../support/eventstoredb-peer/peer.ts'
import { MovingMerchant } from '../support/processes/movable-service.ts'
import { temporaryDirectory, testDatabase } from '../support/postgres.ts'

interface Saved {
  readonly events: number
  readonly position: number
  readonly sha256: string
}

/** Payouts one after the other, until it is told to stop; answers how many there were. */
function load(merchant: MovingMerchant): () => Promise<number> {
  let isOver = false
  const run = async () => {
    let count = 0
    for (; !isOver; count++) await merchant.endPayout(await merchant.requestPayout(), 'paid')
    return count
  }
  const running = Promise.all([1, 2, 3].map(run))
  return async () => {
    isOver = true
    return (await running).reduce((sum, count) => sum + count, 0)
  }
}

async function embeddedPlaces(t: Test) {
  return { POSTGRES_URL: (await testDatabase(t)).url }
}

async function distributedPlaces(t: Test) {
  const peer = await EventStoreDbPeer.start()
  t.teardown(() => peer.stop())
  return { ...(await embeddedPlaces(t)), EVENTSTORE_URL: peer.url }
}

for (const [name, places] of Object.entries({ embedded: embeddedPlaces, distributed: distributedPlaces })) {
  t.test(
    `${name}: a backup of a service under load is restored, and the service goes on from it`,
    async (t) => {
      const [before, after] = [await places(t), await places(t)]
      const merchant = new MovingMerchant(t)
      const directory = join(temporaryDirectory(t), 'backup')
      await merchant.start(before)
      await merchant.listen()
      const stop = load(merchant)
      const saved = jsonOf<Saved>(await ikw(merchant.settings(before), 'backup', directory, '--json'))
      t.ok((await stop()) > 0)
      const told = await merchant.operators()
      await merchant.stop()

      const restored = await ikw(merchant.settings(after), 'restore', directory, '--json')
      t.match(jsonOf(restored), { agree: true, target: { events: saved.events, sha256: saved.sha256 } })
      const { events, position, sha256 } = saved
      const digest = jsonOf(await ikw(merchant.settings(after), 'events', 'digest', '--json'))
      t.match(digest, { events, position, sha256 })
      for (const command of ['verify', 'replay']) {
        t.match(await ikw(merchant.settings(after), 'ledger', command), { code: 0 }, command)
      }
      const rotated = await ikw(merchant.settings(after), 'audit', 'rotate-key')
      t.match(rotated, { code: 0, stderr: '' }, 'new rows are numbered behind those that were restored')
      await merchant.start(after)
      await merchant.endPayout(await merchant.requestPayout(), 'paid')
      await merchant.settled()
      t.match(await ikw(merchant.settings(after), 'ledger', 'verify'), { code: 0 })
      const executions = Object.values(await merchant.operators()).filter(
        (one) => !/ [01] executions/.test(one),
      )
      t.same(executions, [], 'money is moved once')
      t.ok(Object.keys(told).length > 0)
    },
  )
}

t.test('a backup is not written over another, nor restored over something else', async (t) => {
  const places = await embeddedPlaces(t)
  const elsewherePlaces = await embeddedPlaces(t)
  const merchant = new MovingMerchant(t)
  const directory = join(temporaryDirectory(t), 'backup')
  await merchant.start(places)
  await merchant.requestPayout()
  await merchant.settled()
  t.match(await ikw(merchant.settings(places), 'backup', directory), { code: 0, stdout: /master\.key/ })
  t.match(await ikw(merchant.settings(places), 'backup', directory), { code: 2, stderr: /is not empty/ })
  const shared = join(directory, '..', 'shared')
  const atOnce = [1, 2, 3].map(() => ikw(merchant.settings(places), 'backup', shared))
  const refused = (await Promise.all(atOnce)).filter(({ code }) => code !== 0)
  t.match(
    refused,
    [1, 2].map(() => ({ code: 2, stderr: /is not empty/ })),
    'one of three at once gets it',
  )
  t.match(await ikw(merchant.settings(places), 'restore', directory), { code: 2, stderr: /has run/ })
  const elsewhere = merchant.settings(elsewherePlaces)
  t.match(await ikw(elsewhere, 'restore', join(directory, '..')), { code: 2, stderr: /no whole backup/ })

  const manifest = join(directory, 'manifest.json')
  const whole = readFileSync(manifest, 'utf8')
  writeFileSync(manifest, whole.replace(/"sha256": "\w/, '"sha256": "-'))
  t.match(await ikw(elsewhere, 'restore', directory), { code: 2, stderr: /damaged/ })
  t.match(await ikw(elsewhere, 'ledger', 'verify'), { code: 2, stderr: /not copied or restored to its end/ })
  writeFileSync(manifest, whole)
  t.match(await ikw(elsewhere, 'restore', directory), { code: 0 }, 'and completes what was begun')
  rmSync(directory, { recursive: true })
})
