import t from 'tap'
import { createTable, tableOf } from '../../infra/postgres/read-models/tables.ts'
import { invoices } from '../../projections/invoices.ts'
import { testDatabase } from '../support/postgres.ts'

const rows = 500

t.test('that an invoice is told its number writes to no index', async (t) => {
  const { pool } = await testDatabase(t)
  const table = tableOf(invoices, 1)
  await pool.query(`create schema read; ${createTable(table)}`)
  const connection = await pool.connect()
  t.teardown(() => connection.release())
  await connection.query('begin')
  await connection.query(
    `insert into ${table.name} (id, merchant, livemode, shown, revision, state, status)
     select 'id ' || n, 'm', false, true, 0, json_build_object('url', repeat('x', 700)), 'open'
     from generate_series(1, $1::integer) n`,
    [rows],
  )
  const hot = async () => {
    const text = `select pg_stat_get_xact_tuples_hot_updated('${table.name}'::regclass)::integer as hot`
    return (await connection.query<{ hot: number }>(text)).rows[0]!.hot
  }
  const before = await hot()
  await connection.query(`update ${table.name} set revision = 1`)
  // The newest page has no room for all of its own.
  t.ok((await hot()) - before > rows * 0.95, `${await hot()} of ${rows}`)
  await connection.query('rollback')
})
