import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { v7 } from 'uuid'
import { openEmbeddedStore } from '../../infra/event-store/embedded/store.ts'
import { postgresSnapshots } from '../../infra/postgres/snapshots.ts'
import { bookId } from '../../packages/domain/ledger/accounts.ts'
import { book } from '../../packages/domain/ledger/book.ts'
import { Executor } from '../../packages/kernel/execution/execute.ts'
import type { EventStore } from '../../packages/kernel/ports.ts'
import { Renderer } from '../../services/relay/render.ts'
import { StatesBehind } from '../../services/relay/states.ts'
import { publicSources } from '../../packages/domain/index.ts'
import { lawOver } from '../support/law.ts'
import { testDatabase } from '../support/postgres.ts'

const silent = { info: () => undefined, warn: () => undefined, error: () => undefined }
const never = () => new Error('is not refused here')
const entries = 5_500
const batchSize = 500

t.test('a relay that is behind the snapshot of a book goes on from its own', async (t) => {
  const { url, pool } = await testDatabase(t)
  const store = await openEmbeddedStore({ url })
  t.teardown(() => store.close())
  const snapshots = postgresSnapshots(pool)
  const refuse = { notFound: never, changedMeanwhile: never, otherRevision: never, overloaded: never }
  const clock = () => new Date()
  const executor = new Executor({
    store,
    snapshots,
    clock,
    newId: v7,
    newSalt: v7,
    log: silent,
    pause,
    refuse,
  })
  const merchant = v7()
  const id = bookId(merchant, false, 'XOF')
  const envelope = { merchant, livemode: false, actor: 'test', correlation: 'test' }
  const topUp = () => {
    const subject = { type: 'topup', id: v7() } as const
    return {
      type: 'PostEntry',
      data: { template: 'sandbox.topup', subject, amount: 1, notAmong: entries },
    } as const
  }
  await executor.send(book, id, topUp(), envelope)
  await Promise.all(Array.from({ length: entries - 1 }, () => executor.send(book, id, topUp(), envelope)))
  const log = await store.readStream(`ledger-${id}`, 0)
  t.equal(log.length, entries)

  let [read, largest] = [0, 0]
  const counting = new Proxy(store, {
    get: (target, name) => {
      if (name !== 'readStream') return Reflect.get(target, name, target)
      return async (...parameters: Parameters<EventStore['readStream']>) => {
        const events = await target.readStream(...parameters)
        read += events.length
        largest = Math.max(largest, events.length)
        return events
      }
    },
  })
  let available = 0
  for (let start = 0; start < entries; start += batchSize) {
    // A relay of its own for each batch: each one begins with nothing in memory.
    const renderer = new Renderer({ sources: publicSources, store: counting, snapshots })
    const batch = log.slice(start, start + batchSize)
    await renderer.prepare(batch)
    await lawOver(t, batch, async (event) => {
      const told = await renderer.render(event)
      available += 1
      t.match(JSON.parse(told!.payload(1)), { data: { available: [{ amount: available }] } })
    })
    await renderer.keepSnapshots()
  }
  t.ok(read < (3 * entries) / 2, `${read} events were read again, of ${entries}`)
  const kept = await snapshots.load(`relay/ledger-${id}`, book.snapshot!.version)
  const { balances } = kept!.state as { readonly balances: object }
  const shown = ['merchant.available', 'merchant.pending', 'merchant.reserved', 'clearing.payout']
  t.strictSame(Object.keys(balances).toSorted(), shown.toSorted(), 'it keeps no more than it shows')

  const nothingKept = postgresSnapshots((await testDatabase(t)).pool)
  const bare = new StatesBehind({ store: counting, snapshots: nothingKept })
  const position = { stream: `ledger-${id}`, revision: entries - 1 }
  t.match(await bare.at(book, position), { balances: { 'merchant.available': entries } })
  t.ok(largest <= 5_000, `one without any reads it in pieces, of which the largest had ${largest} events`)
})
