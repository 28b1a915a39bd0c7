import fc from 'fast-check'
import t from 'tap'
import { TableChanges } from '../infra/postgres/changes.ts'
import { copyInto } from '../infra/postgres/copy.ts'
import { CopyLines } from '../infra/postgres/copy-lines.ts'
import { createTable, type Table } from '../infra/postgres/tables.ts'
import { WrittenKeys } from '../infra/postgres/written-keys.ts'
import type { Change, Row } from '../packages/kernel/projection.ts'
import { testDatabase } from './support/postgres.ts'

const table: Table = {
  name: 'read.things_v1_1',
  view: 'read.things',
  columns: { id: 'bigint', kind: 'text', note: 'text', sum: 'bigint', isOpen: 'boolean', state: 'json' },
  key: ['id'],
}

/** Also what COPY has signs for, and what is longer than a piece of memory. */
const text = fc.oneof(
  fc.constantFrom('', '\\N', '\\.', 'tab\tand\nline\r', 'é\\t€😀', 'n'.repeat(300_000)),
  fc.string({ unit: 'grapheme', maxLength: 200 }).filter((one) => !one.includes('\0')),
)
const kind = fc.constantFrom('one', 'other', null)

t.test('rows arrive as they were given, whatever they have in common with their neighbours', async (t) => {
  const { pool } = await testDatabase(t)
  await pool.query(`create schema read; ${createTable(table)}`)
  const columns = Object.keys(table.columns)
  const row = fc.record({
    kind,
    note: fc.option(text),
    sum: fc.maxSafeInteger(),
    isOpen: fc.boolean(),
    state: fc.option(fc.record({ text }), { nil: null }),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(row, { maxLength: 40 }), async (given) => {
      const rows = given.map((one, id) => ({ id, ...one }))
      const lines = new CopyLines(columns)
      for (const one of rows) lines.add(one)
      const connection = await pool.connect()
      await connection.query(`truncate ${table.name}`)
      await copyInto(connection, table, lines.take()).finally(() => connection.release())
      t.same((await pool.query(`select * from ${table.name} order by id`)).rows, rows)
    }),
    { numRuns: 60 },
  )
})

const key = fc.integer({ min: 1, max: 6 }).map((id): Row => ({ id }))
const change: fc.Arbitrary<Change> = fc.oneof(
  fc.tuple(key, kind, fc.integer()).map(([id, kind, sum]) => ({ put: { ...id, kind, sum } })),
  fc.tuple(key, kind).map(([key, kind]) => ({ patch: { kind }, key })),
  fc.tuple(key, fc.integer()).map(([key, sum]) => ({ add: { sum }, key })),
  key.map((remove) => ({ remove })),
)

/** What PostgreSQL holds after pieces of a history, each written as a whole. */
async function rowsAfter(
  pool: Awaited<ReturnType<typeof testDatabase>>['pool'],
  pieces: readonly (readonly Change[])[],
  written?: WrittenKeys,
): Promise<readonly Row[]> {
  await pool.query(`truncate ${table.name}`)
  const connection = await pool.connect()
  for (const piece of pieces) {
    const changes = new TableChanges(table, written)
    for (const one of piece) changes.apply(one)
    await changes.take()({
      run: async (statement, rows) => void (await connection.query(statement, [rows])),
      copy: (into, lines) => copyInto(connection, into, lines),
    })
  }
  connection.release()
  return (await pool.query<Row>(`select * from ${table.name} order by id`)).rows
}

t.test('a table says the same, however its history is cut and whether its rows are known', async (t) => {
  const { pool } = await testDatabase(t)
  await pool.query(`create schema read; ${createTable(table)}`)
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(change, { maxLength: 12 }), { maxLength: 5 }), async (pieces) => {
      const expected = await rowsAfter(
        pool,
        pieces.flat().map((one) => [one]),
      )
      t.same(await rowsAfter(pool, pieces), expected)
      t.same(await rowsAfter(pool, pieces, new WrittenKeys()), expected)
    }),
    { numRuns: 60 },
  )
})

t.test('a key that was written is never taken for a new one', (t) => {
  const written = new WrittenKeys()
  const keys = Array.from({ length: 50_000 }, (_, number) => `payout_late:${number}`)
  for (const each of keys) written.add(each)
  t.ok(keys.every((each) => written.mayHold(each)))
  const taken = keys.filter((each) => written.mayHold(`${each}.other`)).length
  t.ok(taken < keys.length / 100, `${taken} others are taken for known ones`)
  t.end()
})
