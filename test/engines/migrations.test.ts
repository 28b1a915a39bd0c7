import { randomUUID } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { openEmbeddedStore } from '../../infra/event-store/embedded/store.ts'
import { PostgresAnswers } from '../../infra/postgres/idempotency/answers.ts'
import { connectPostgres } from '../../infra/postgres/client/connect.ts'
import { migrate } from '../../infra/postgres/migrate.ts'
import { postgresSnapshots } from '../../infra/postgres/snapshots.ts'
import { newEvents } from '../support/event-store/event-store-samples.ts'
import { testDatabase } from '../support/postgres.ts'
import { root } from '../support/root.ts'

t.test('processes that start at once migrate once, also after one was killed while it did', async (t) => {
  const { url, pool } = await testDatabase(t)
  const before = await pool.query('select name from migrations order by id')
  t.ok(before.rows.length > 0)
  await pool.query('drop schema public cascade; create schema public')
  const processes = await Promise.all([1, 2, 3].map(() => connectPostgres({ url, dataDirectory: '' })))
  t.teardown(() => Promise.all(processes.map((process) => process.close())))
  await Promise.all(processes.map((one) => migrate(one)))
  t.same((await pool.query('select name from migrations order by id')).rows, before.rows)
  await pool.query(
    `delete from migrations where name = '030-bus-topic'; update migrations_lock set is_locked = 1`,
  )
  await t.resolves(Promise.all(processes.map((one) => migrate(one))))
  t.same((await pool.query('select name from migrations order by id')).rows, before.rows)
})

t.test('a program does not start on a database that a newer one has migrated', async (t) => {
  const { url } = await testDatabase(t)
  const postgres = await connectPostgres({ url, dataDirectory: '' })
  t.teardown(() => postgres.close())
  await postgres.pool.query(
    "insert into migrations (name, batch, migration_time) values ('999-later', 2, now())",
  )
  await t.rejects(migrate(postgres), /newer program .*999-later/)
})

t.test('each migration that is written runs', async (t) => {
  const { pool } = await testDatabase(t)
  const files = readdirSync(join(root, 'infra/postgres/migrations'), 'utf8')
  const { rows } = await pool.query<{ name: string }>('select name from migrations order by id')
  const names = rows.map(({ name }) => `${name}.ts`)
  t.same(names, files.toSorted())
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

t.test('what an older program kept in the binary format of JSON is read as before', async (t) => {
  const { url, pool } = await testDatabase(t)
  const postgres = await connectPostgres({ url, dataDirectory: '' })
  t.teardown(() => postgres.close())
  await pool.query(`
    delete from migrations where name in ('014-json-as-written', '015-known-predecessors');
    drop function append_events;
    create function append_events(text, text, text, text, text, text, text, text, text) returns void
      language sql as '';
    alter table events alter data type jsonb using data::jsonb, alter metadata type jsonb using metadata::jsonb;
    alter table snapshots alter state type jsonb using state::jsonb;
    alter table answers alter body type jsonb using body::jsonb`)
  const [event] = newEvents(1)
  const values = [event!.id, event!.type, event!.data, event!.metadata]
  await pool.query(`insert into events values (1, 'payout-1', 0, $1, $2, $3, $4)`, values)
  const snapshots = postgresSnapshots(pool)
  const snapshot = { revision: 7, state: { balance: 5, holds: ['one', 'two'] } }
  await snapshots.save('ledger-1.live.XOF', 1, snapshot)
  const answers = new PostgresAnswers(postgres)
  const key = { merchant: randomUUID(), livemode: true, operation: 'POST /api/v1/payouts', key: 'one' }
  const answer = { status: 201, body: { id: 'po_1', amount: 500 } }
  await answers.begin(key, 'fingerprint')
  await answers.finish(key, answer)
  await migrate(postgres)
  t.same(await snapshots.load('ledger-1.live.XOF', 1), snapshot)
  t.match(await answers.begin(key, 'fingerprint'), { state: 'done', answer })
  const store = await openEmbeddedStore({ url })
  t.teardown(() => store.close())
  await store.append('payout-1', 0, newEvents(1))
  const written = { ...event, stream: 'payout-1', revision: 0, position: 1 }
  t.match(await store.readStream('payout-1', 0, 10), [written, { revision: 1, position: 2 }])
  const pages = []
  for await (const page of store.readOn(0)) pages.push(...page)
  t.strictSame(pages, await store.readStream('payout-1', 0, 10))
  t.equal((await pool.query(`select 1 from pg_proc where proname = 'append_events'`)).rowCount, 1)
})
