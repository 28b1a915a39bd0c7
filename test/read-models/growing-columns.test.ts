import t from 'tap'
import { publishMissing } from '../../infra/postgres/read-models/publication.ts'
import { journal } from '../../projections/journal.ts'
import { testDatabase } from '../support/postgres.ts'

const lines = 50_000
/** One line every second. */
const fill = `
  insert into read.journal (position, line, effective_at)
  select second, 1, timestamptz '2026-01-01 00:00Z' + second * interval '1 second'
  from generate_series(1, ${lines}) as second`
const oneMinute = `
  from read.journal
  where effective_at >= '2026-01-01 06:00Z' and effective_at < '2026-01-01 06:01Z'`

t.test('a minute of the journal is found without reading the other hours', async (t) => {
  const { pool } = await testDatabase(t)
  await publishMissing(pool, [journal], '')
  await pool.query(fill)
  await pool.query('vacuum analyze')
  const plan = await pool.query(`explain (analyze, format json) select ${oneMinute}`)
  t.equal((await pool.query(`select ${oneMinute}`)).rowCount, 60)
  const [{ Plan: scan }] = plan.rows[0]['QUERY PLAN']
  const looked = scan['Actual Rows'] + scan['Rows Removed by Index Recheck']
  t.ok(looked < lines / 4, `${looked} lines were looked at`)
})
