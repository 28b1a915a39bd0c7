import t from 'tap'
import {
  publications,
  publishMissing,
  requestNewGeneration,
} from '../../infra/postgres/read-models/publication.ts'
import { createTable, tableOf } from '../../infra/postgres/read-models/tables.ts'
import { book } from '../../packages/domain/ledger/book.ts'
import { readInPages } from '../../packages/kernel/pages.ts'
import { balances } from '../../projections/balances.ts'
import { startProjector } from '../../services/projector/main.ts'
import { envelope, id, openLog, topUp } from '../support/event-store/shared-log.ts'
import { eventually } from '../support/eventually.ts'
import { testDatabase } from '../support/postgres.ts'

const log = { info: () => undefined, warn: () => undefined, error: () => undefined }

t.test('a rebuild that is asked for while one is under way begins after it, once for all', async (t) => {
  const { pool } = await testDatabase(t)
  const { store, process } = openLog()
  await publishMissing(pool, [balances], '')
  await process().send(book, id, topUp('first', 100), envelope)
  let goOn = () => {}
  const held = new Promise<void>((resolve) => (goOn = resolve))
  let begun = 0
  const readOn = (after: number) =>
    readInPages(
      {
        readAll: async (...asked: Parameters<typeof store.readAll>) => {
          const page = await store.readAll(...asked)
          begun++
          await held
          return page
        },
      },
      after,
      100,
    )
  const ask = async () => {
    await requestNewGeneration(pool, balances)
    return (await publications(pool)).get(balances.name)!.wanted
  }
  t.equal(await ask(), 2)
  t.equal(await ask(), 2, 'none has begun')
  const gated = Object.assign(store, { readOn, subscribe: () => ({ close: async () => undefined }) })
  const parts = { pool, store: gated, models: [balances], deciders: [book], dependents: '', log }
  const projector = await startProjector(parts)
  t.teardown(() => projector.close())
  await eventually(
    async () => begun,
    (pages) => pages > 0,
  )
  t.equal(await ask(), 3, 'what it reads may be older')
  t.equal(await ask(), 3)
  goOn()
  const shown = await eventually(
    () => publications(pool),
    (now) => now.get(balances.name)?.generation === 3,
  )
  t.match(shown.get(balances.name), { wanted: 3 })
  t.same((await pool.query(`select available from ${tableOf(balances, 3).name}`)).rows, [{ available: 100 }])
})

t.test('nor is one joined that a program of another version has begun', async (t) => {
  const { pool } = await testDatabase(t)
  await publishMissing(pool, [balances], '')
  const newer = { ...balances, version: balances.version + 1 }
  await pool.query(createTable(tableOf(newer, 2)))
  await requestNewGeneration(pool, balances)
  t.match((await publications(pool)).get(balances.name), { wanted: 3 })
})
