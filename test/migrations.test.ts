import t from 'tap'
import { connectPostgres } from '../infra/postgres/connect.ts'
import { migrate } from '../infra/postgres/migrate.ts'
import { postgresSnapshots } from '../infra/postgres/snapshots.ts'
import { testDatabase } from './support/postgres.ts'

t.test('processes that start at once migrate once, also after one was killed while it did', async (t) => {
  const { url, pool } = await testDatabase(t)
  const before = await pool.query('select name from migrations order by id')
  t.ok(before.rows.length > 0)
  await pool.query('drop schema public cascade; create schema public')
  const processes = await Promise.all([1, 2, 3].map(() => connectPostgres({ url, dataDirectory: '' })))
  t.teardown(() => Promise.all(processes.map((process) => process.close())))
  await Promise.all(processes.map(migrate))
  t.same((await pool.query('select name from migrations order by id')).rows, before.rows)
  await pool.query('update migrations_lock set is_locked = 1')
  await t.resolves(Promise.all(processes.map(migrate)))
})

t.test('the newest snapshot of a stream is kept, and one of another version is none', async (t) => {
  const { pool } = await testDatabase(t)
  const snapshots = postgresSnapshots(pool)
  const stream = 'ledger-1.live.XOF'
  t.equal(await snapshots.load(stream, 1), undefined)
  await snapshots.save(stream, 1, { revision: 200, state: { balance: 5 } })
  await snapshots.save(stream, 1, { revision: 100, state: { balance: 3 } })
  t.same(await snapshots.load(stream, 1), { revision: 200, state: { balance: 5 } })
  await snapshots.save(stream, 2, { revision: 150, state: [1, 'two'] })
  await snapshots.save(stream, 1, { revision: 300, state: { balance: 7 } })
  t.equal(await snapshots.load(stream, 1), undefined)
  t.same(await snapshots.load(stream, 2), { revision: 150, state: [1, 'two'] })
})
