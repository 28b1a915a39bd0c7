import type pg from 'pg'
import t, { type Test } from 'tap'
import { financeViews } from '../../infra/postgres/finance/finance.ts'
import { tableOf } from '../../infra/postgres/read-models/tables.ts'
import { totalsOf } from '../../infra/postgres/read-models/totals.ts'
import { publications, requestNewGeneration } from '../../infra/postgres/read-models/publication.ts'
import type { EventStore } from '../../packages/kernel/ports.ts'
import type { ReadModel } from '../../packages/kernel/projection.ts'
import { balances } from '../../projections/balances.ts'
import { readModels } from '../../projections/index.ts'
import { payouts } from '../../projections/payouts.ts'
import { startApi } from '../../services/api/main.ts'
import { deciders } from '../../packages/domain/index.ts'
import { firstMerchant } from '../../services/composition/first-merchant.ts'
import { openRuntime } from '../../services/composition/dependencies.ts'
import { startProjector } from '../../services/projector/main.ts'
import { readConfiguration } from '../../infra/configuration.ts'
import { eventually } from '../support/eventually.ts'
import { temporaryDirectory, testDatabase, ownLocks } from '../support/postgres.ts'
import { clientOf } from '../support/service.ts'

const payout = {
  amount: 100,
  currency: 'XOF',
  destination: { type: 'mobile_money', country: 'SN', operator: 'wave', msisdn: '+221770000000' },
}

const newVersion = payouts.version + 1

/** Of a table, without its schema. */
const bareName = (model: ReadModel, generation: number) =>
  tableOf(model, generation).name.replace(/^.*\./, '')

/** The rows of a read model as text, without what differs from table to table. */
type Rows = readonly string[]

/** API and projector on one database. Whoever builds anew reads the log through a gate. */
async function openParts(t: Test) {
  const { url: POSTGRES_URL } = await testDatabase(t)
  const dataDirectory = temporaryDirectory(t)
  const settings = {
    PORT: '0',
    DATA_DIR: dataDirectory,
    LOG_LEVEL: 'silent',
    RATE_LIMIT: 'off',
    POSTGRES_URL,
  }
  const runtime = await openRuntime(readConfiguration(settings))
  const {
    postgres: { pool },
    dependencies: { store, log },
  } = runtime
  const credentials = await firstMerchant(runtime, dataDirectory)
  const api = await startApi({ runtime })
  const client = clientOf({ port: api.port, credentials })
  const gate = new Gate()
  const project = (models: readonly ReadModel[]) => {
    return startProjector({
      pool,
      store: gate.before(store),
      models,
      deciders,
      dependents: financeViews,
      log,
    })
  }
  t.teardown(async () => {
    gate.open()
    await api.close()
    await runtime.close()
  })
  const rows = async (name: string): Promise<Rows> => {
    const { rows } = await pool.query<{ row: string }>(`select r::text as row from read.${name} r order by 1`)
    return rows.map(({ row }) => row)
  }
  return { runtime, pool, client, gate, project, rows }
}

/** Holds back reads of the whole log, which is how a read model is built anew. */
class Gate {
  #open: () => void = () => undefined
  #opened: Promise<void> = Promise.resolve()

  close(): void {
    this.#opened = new Promise((resolve) => (this.#open = resolve))
  }

  open(): void {
    this.#open()
  }

  async *#read(store: EventStore, after: number) {
    await this.#opened
    yield* store.readOn(after)
  }

  before(store: EventStore): EventStore {
    return {
      ...store,
      readOn: (after) => this.#read(store, after),
    }
  }
}

t.test(
  'a read model is built anew beside the old one, and takes its place when it has caught up',
  async (t) => {
    const { runtime, pool, client, gate, project, rows } = await openParts(t)
    const projector = await project(readModels)
    t.teardown(() => projector.close())
    const create = async () => (await client.post('/api/v1/payouts', payout)).body
    const known = await Promise.all(Array.from({ length: 20 }, create))
    gate.close()
    await requestNewGeneration(pool, payouts)
    await requestNewGeneration(pool, balances)
    const meanwhile = await create()
    const listed = await client.get<{ data: object[] }>('/api/v1/merchant/payouts?limit=100')
    t.equal(listed.body.data.length, 21, 'the old table goes on meanwhile')
    t.equal((await publications(pool)).get('payouts')?.generation, 1)
    const before = { payouts: await rows('payouts'), balances: await rows('balances') }

    let isBuilt = false
    const failures: object[] = []
    const reading = [known[0], meanwhile].map(async (one) => {
      while (!isBuilt) {
        for (const path of [
          `/api/v1/payouts/${String(one!['id'])}`,
          '/api/v1/merchant/payouts',
          '/api/v1/balance',
        ]) {
          const { status, body } = await client.get(path)
          if (status !== 200) failures.push({ path, body })
        }
      }
    })
    gate.open()
    const shown = () => publications(pool)
    await eventually(shown, (now) => ['payouts', 'balances'].every((name) => now.get(name)?.generation === 2))
    isBuilt = true
    await Promise.all(reading)
    t.strictSame(failures, [], 'nobody notices')
    t.strictSame({ payouts: await rows('payouts'), balances: await rows('balances') }, before)
    const left = [bareName(balances, 2), bareName(payouts, 2), `${bareName(payouts, 2)}_totals`]
    t.strictSame(await tables(pool), left, 'the old tables are gone')
    await create()
    await runtime.dependencies.reads.reached(await runtime.dependencies.store.head(), 5_000)
    t.equal((await rows('payouts')).length, 22, 'and it is followed')
  },
)

t.test(
  'a read model of a new version is built beside the old one, while both versions of the program run',
  async (t) => {
    const { pool, client, gate, project, rows } = await openParts(t)
    const old = await project(readModels)
    const { body: first } = await client.post('/api/v1/payouts', payout)
    await client.get('/api/v1/merchant/payouts')
    await old.close()

    const row: typeof payouts.row = (state) => {
      const columns = payouts.row(state)
      return columns && { ...columns, version: newVersion }
    }
    const newer: ReadModel = {
      ...payouts,
      version: newVersion,
      columns: { ...payouts.columns, version: 'integer' },
      row,
    }
    gate.close()
    const projector = await project(readModels.map((model) => (model.name === payouts.name ? newer : model)))
    t.teardown(() => projector.close())
    const { body: second } = await client.post('/api/v1/payouts', payout)
    t.equal((await rows('payouts')).length, 1, 'the old table stands still')
    t.strictSame(
      (await client.get(`/api/v1/payouts/${String(second['id'])}`)).body,
      second,
      'one payout is shown as it is',
    )
    t.strictSame((await client.get(`/api/v1/payouts/${String(first['id'])}`)).body, first)
    gate.open()
    await eventually(
      () => publications(pool),
      (now) => now.get('payouts')?.version === newVersion,
    )
    const { rows: versions } = await pool.query(
      'select version, count(*) as count from read.payouts group by version',
    )
    t.strictSame(versions, [{ version: newVersion, count: 2 }])
    for (const one of [first, second]) {
      t.strictSame(
        (await client.get(`/api/v1/payouts/${String(one['id'])}`)).body,
        one,
        'also to who knows only the old one',
      )
    }
    t.match(await client.get('/api/v1/merchant/payouts'), { status: 200, body: { data: { length: 2 } } })
  },
)

t.test('a rebuild that is cut short goes on where it was', async (t) => {
  const { pool, client, gate, project, rows } = await openParts(t)
  const first = await project(readModels)
  await client.post('/api/v1/payouts', payout)
  await client.get('/api/v1/merchant/payouts')
  const before = await rows('payouts')
  gate.close()
  await requestNewGeneration(pool, payouts)
  await eventually(
    () => tables(pool),
    (names) => names.includes(bareName(payouts, 2)),
  )
  const closed = first.close()
  gate.open()
  await closed
  const second = await project(readModels)
  t.teardown(() => second.close())
  await eventually(
    () => publications(pool),
    (now) => now.get('payouts')?.generation === 2,
  )
  t.strictSame(await rows('payouts'), before)
})

async function tables(pool: {
  query(text: string): Promise<{ rows: { tablename: string }[] }>
}): Promise<readonly string[]> {
  const { rows } = await pool.query(
    `select tablename from pg_tables where schemaname = 'read' and tablename ~ '^(payouts|balances)_v' order by 1`,
  )
  return rows.map(({ tablename }) => tablename)
}

t.test('a list that waits for its table while it is dropped is answered from the next one', async (t) => {
  const { client, pool, project } = await openParts(t)
  const projector = await project(readModels)
  t.teardown(() => projector.close())
  const { body } = await client.post('/api/v1/payouts', payout)
  const list = () => client.get<{ data: readonly { id: string }[] }>('/api/v1/merchant/payouts')
  await eventually(list, ({ body }) => body.data.length === 1)
  const [table, next] = [tableOf(payouts, 1).name, tableOf(payouts, 2).name]
  const other = await pool.connect()
  t.teardown(() => other.release(true))
  await other.query('begin')
  await other.query(`lock table ${table}`)
  const listed = list()
  await eventually(
    () => locks(pool, table),
    (found) => found.some(({ granted }) => !granted),
  )
  await other.query(`lock table ${totalsOf({ name: table })} nowait`)
  await other.query(`
    create table ${next} (like ${table} including all);
    insert into ${next} select * from ${table};
    update read.published set generation = 2, wanted = 2 where name = 'payouts';
    drop table ${table} cascade;
    commit`)
  t.match(await listed, { status: 200, body: { data: [{ id: body['id'] }] } })
})

t.test('a rebuild drops a table before its totals, as lists read them', async (t) => {
  const { pool, project } = await openParts(t)
  const projector = await project(readModels)
  t.teardown(() => projector.close())
  const table = tableOf(payouts, 1).name
  const totals = totalsOf({ name: table })
  const reader = await pool.connect()
  t.teardown(() => reader.release(true))
  await reader.query(`begin; lock table ${totals} in access share mode`)
  await requestNewGeneration(pool, payouts)
  const isInOrder = `select exists (
      select from ${ownLocks} held join ${ownLocks} awaited on awaited.pid = held.pid
      where held.relation = to_regclass($1) and held.granted and held.mode = 'AccessExclusiveLock'
        and awaited.relation = to_regclass($2) and not awaited.granted) as "isSo"`
  await eventually(
    async () => (await pool.query<{ isSo: boolean }>(isInOrder, [table, totals])).rows[0]!.isSo,
    (isSo) => isSo,
  )
  await reader.query('rollback')
  await eventually(
    () => publications(pool),
    (now) => now.get('payouts')?.generation === 2,
  )
})

interface Lock {
  readonly granted: boolean
}

async function locks(pool: pg.Pool, relation: string): Promise<readonly Lock[]> {
  const text = `select granted from ${ownLocks} where relation = to_regclass($1)`
  return (await pool.query<Lock>(text, [relation])).rows
}
