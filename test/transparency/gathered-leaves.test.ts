import { randomUUID } from 'node:crypto'
import t from 'tap'
import { TreeStore, type TreeGrowth } from '../../infra/postgres/transparency/tree-store.ts'
import { noStream, type SubscriptionOptions } from '../../packages/kernel/ports.ts'
import { eventually } from '../support/eventually.ts'
import { testDatabase } from '../support/postgres.ts'
import { rootOver, unsignedLog } from '../support/transparency/unsigned-log.ts'

t.test(
  'events that come again, and leaves whose write was committed though it failed, are signed once',
  async (t) => {
    const { url } = await testDatabase(t)
    const { pool, store, notarise, signed } = await unsignedLog(t, url)
    const trees = new CutOff(pool)
    let handled = 0
    const eachBatchTwice = (options: SubscriptionOptions) =>
      store.subscribe({
        ...options,
        handle: async (events, through) => {
          await options.handle(events, through)
          if (++handled % 2 === 1) throw new Error('it comes again')
        },
      })
    const notary = await notarise(trees, { store: { ...store, subscribe: eachBatchTwice } })
    for (let count = 1; count <= 40; count++) {
      const events = [{ id: randomUUID(), type: 'PayoutSent', data: { count }, metadata }]
      await store.append(`payout-${randomUUID()}`, noStream, events)
      // Some of them before a checkpoint is written, some meanwhile, some after it.
      if (count % 10 > 0) continue
      await eventually(
        async () => trees.steps,
        (steps) => steps >= count / 10,
      )
    }
    t.strictSame((await signed(40))?.root, await rootOver(store))
    await notary.close()
  },
)

const metadata = {
  version: 2,
  at: '2026-11-01T00:00:00.000Z',
  actor: 'test',
  merchant: randomUUID(),
  livemode: false,
  correlation: 'test',
}

/** A connection that breaks when every second step has been committed. */
class CutOff extends TreeStore {
  steps = 0

  override async grow(growth: TreeGrowth): Promise<void> {
    await super.grow(growth)
    if (++this.steps % 2 === 0) throw new Error('cut off')
  }
}

t.test('an event that nobody can commit to keeps nothing before it from being signed, once', async (t) => {
  const { url } = await testDatabase(t)
  const { pool, store, notarise, signed } = await unsignedLog(t, url)
  let failures = 0
  const counting = (options: SubscriptionOptions) =>
    store.subscribe({ ...options, onError: () => void failures++ })
  const first = await notarise(new TreeStore(pool), { store: { ...store, subscribe: counting } })
  await pool.query(`
    insert into events (position, stream, revision, id, type, data, metadata)
    select number, 'payout-' || gen_random_uuid(), 0, gen_random_uuid(), 'PayoutSent', '{}',
      case when number = 60 then '{"salt":5}' else '{}' end::json
    from generate_series(1, 100) as number`)
  await eventually(
    async () => failures,
    (count) => count >= 3,
  )
  t.equal((await signed(59))?.position, 59)
  await first.close()
  await pool.query(`update events set metadata = '{}' where position = 60`)
  const second = await notarise(new TreeStore(pool))
  t.strictSame((await signed(100))?.root, await rootOver(store))
  await second.close()
})
