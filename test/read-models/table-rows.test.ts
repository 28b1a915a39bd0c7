import t from 'tap'
import { TableChanges, writeTo } from '../../infra/postgres/read-models/changes.ts'
import { copyInto } from '../../infra/postgres/client/copy.ts'
import { CopyRows } from '../../infra/postgres/client/copy-rows.ts'
import { createTable, type Table } from '../../infra/postgres/read-models/tables.ts'
import { KeyBloomFilter } from '../../infra/postgres/idempotency/key-bloom-filter.ts'
import type { Change, Row } from '../../packages/kernel/projection.ts'
import { testDatabase } from '../support/postgres.ts'
import { fc } from '../support/properties.ts'

const table: Table = {
  name: 'read.things_v1_1',
  view: 'read.things',
  columns: {
    kind: 'text',
    note: 'text',
    sum: 'bigint',
    total: 'numeric',
    count: 'integer',
    isOpen: 'boolean',
    at: 'timestamptz',
    state: 'json',
    /** Last, for columns that a row shares with the one before are repeated from the first on. */
    id: 'bigint',
  },
  key: ['id'],
}

/** Also what COPY has signs for where it reads text, and what is longer than a piece of memory. */
const text = fc.oneof(
  fc.constantFrom('', '\\N', '\\.', 'tab\tand\nline\r', 'é\\t€😀', 'n'.repeat(300_000)),
  fc.string({ unit: 'grapheme', maxLength: 200 }).filter((one) => !one.includes('\0')),
)
const whole = fc.oneof(
  fc.constantFrom(
    0,
    1,
    -1,
    9_999,
    10_000,
    -10_000,
    2 ** 32,
    Number.MAX_SAFE_INTEGER,
    Number.MIN_SAFE_INTEGER,
  ),
  fc.maxSafeInteger(),
)
const time = fc
  .date({
    min: new Date('0100-01-01T00:00:00Z'),
    max: new Date('9999-12-31T23:59:59.999Z'),
    noInvalidDate: true,
  })
  .map((date) => date.toISOString())
const kind = fc.constantFrom('one', 'other', null)

t.test('rows arrive as they were given, whatever they have in common with their neighbours', async (t) => {
  const { pool } = await testDatabase(t)
  await pool.query(`create schema read; ${createTable(table)}`)
  const row = fc.record({
    kind,
    note: fc.option(text),
    sum: whole,
    total: fc.option(whole),
    count: fc.option(fc.integer()),
    isOpen: fc.boolean(),
    at: fc.option(time),
    state: fc.option(fc.record({ text }), { nil: null }),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(row, { maxLength: 40 }), async (given) => {
      const rows = given.map((one, id) => ({ id, ...one }))
      const copied = new CopyRows(table.columns)
      for (const one of rows) copied.add([one])
      const connection = await pool.connect()
      await connection.query(`truncate ${table.name}`)
      await copyInto(connection, table, copied.take()).finally(() => connection.release())
      t.same((await pool.query(`select * from ${table.name} order by id`)).rows, rows)
    }),
    { numRuns: 60 },
  )
})

const wrong: Record<string, Row> = {
  '"yesterday" is no time': { at: 'yesterday' },
  '"" is no time': { at: '' },
  'is neither true nor false': { isOpen: 'true' },
  'is no integer that can be counted to': { sum: 0.5 },
  'has more than 32 bits': { count: 2 ** 31 },
}
for (const [reason, columns] of Object.entries(wrong)) {
  t.test(`nothing is left of rows one of which ${reason}`, async (t) => {
    const { pool } = await testDatabase(t)
    await pool.query(`create schema read; ${createTable(table)}`)
    const rows = new CopyRows(table.columns)
    const note = 'n'.repeat(200_000)
    const at = '2026-11-21T09:30:00.125Z'
    t.throws(() => rows.add([{ id: 1, note, ...columns }]), { message: new RegExp(reason) })
    t.ok(rows.isEmpty)
    rows.add([{ id: 2, note, at }])
    t.throws(() =>
      rows.add([
        { id: 3, note },
        { id: 4, kind: 'other' },
        { id: 5, ...columns },
      ]),
    )
    rows.add([{ id: 6, kind: 'other', at }])
    const connection = await pool.connect()
    await copyInto(connection, table, rows.take()).finally(() => connection.release())
    const kept = await pool.query(`select id, kind, note, at from ${table.name} order by id`)
    t.same(kept.rows, [
      { id: 2, kind: null, note, at },
      { id: 6, kind: 'other', note: null, at },
    ])
  })
}

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
  written?: KeyBloomFilter,
): Promise<readonly Row[]> {
  await pool.query(`truncate ${table.name}`)
  const connection = await pool.connect()
  for (const piece of pieces) {
    const changes = new TableChanges(table, written)
    for (const one of piece) changes.apply(one)
    const writing = {
      run: async (statement: string, rows: string) => void (await connection.query(statement, [rows])),
      copy: (into: typeof table, rows: readonly Buffer[]) => copyInto(connection, into, rows),
    }
    await writeTo(writing, changes.take())
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
      t.same(await rowsAfter(pool, pieces, new KeyBloomFilter()), expected)
    }),
    { numRuns: 60 },
  )
})

t.test('a key that was written is never taken for a new one', (t) => {
  const written = new KeyBloomFilter()
  const keys = Array.from({ length: 50_000 }, (_, number) => `payout_late:${number}`)
  for (const each of keys) written.add(each)
  t.ok(keys.every((each) => written.mayHold(each)))
  const taken = keys.filter((each) => written.mayHold(`${each}.other`)).length
  t.ok(taken < keys.length / 100, `${taken} others are taken for known ones`)
  t.end()
})
