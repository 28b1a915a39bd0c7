import { randomUUID } from 'node:crypto'
import t from 'tap'
import { connectPostgres } from '../../infra/postgres/client/connect.ts'
import { pageStatement, sourceOf } from '../../infra/postgres/read-models/pages.ts'
import { publications } from '../../infra/postgres/read-models/publication.ts'
import { ShareExhaustedError } from '../../packages/kernel/ports/reads.ts'
import { readModels } from '../../projections/index.ts'
import { routes } from '../../services/families.ts'
import { otherMerchantsKey } from '../support/credentials.ts'
import { lawOver } from '../support/law.ts'
import { testDatabase } from '../support/postgres.ts'
import { startService, type Answer } from '../support/service.ts'

const greedy = 45

t.test('reads of one merchant that hang hold up nobody else, and are given up', async (t) => {
  const client = await startService(t)
  const others = await otherMerchantsKey(client)
  const { postgres } = client.service.runtime
  const { version, generation } = (await publications(postgres.pool)).get('payments')!
  const blocker = await postgres.pool.connect()
  t.teardown(() => blocker.release())
  await blocker.query('begin')
  await blocker.query(`lock table read.payments_v${version}_${generation} in access exclusive mode`)
  const hanging: Promise<Answer>[] = []
  for (let count = 0; count < greedy; count++)
    hanging.push(client.get(`/api/v1/merchant/payments?search=thing${count}`))
  for (const key of [client.liveKey, others]) {
    const options = { key }
    for (const path of ['/api/v1/merchant/customers?search=somebody', '/api/v1/merchant/payouts'])
      t.match(await client.get(path, options), { status: 200, body: { data: [] } })
    t.equal((await client.get('/api/v1/balance', options)).status, 200)
  }
  t.equal((await client.get('/api/v1/balance')).status, 200, 'what is cheap is answered to the merchant too')
  const answers = await Promise.all(hanging)
  await blocker.query('rollback')
  const codes = answers.map(
    ({ status, body }) => `${status} ${String(body['code'])} ${String(body['retryable'])}`,
  )
  t.strictSame([...new Set(codes)].sort(), ['429 IKW-RATE-001 true', '503 IKW-SYS-006 true'])
  t.equal((await client.get('/api/v1/merchant/payments?search=thing')).status, 200, 'then all is as before')
})

t.test('events and keys that take long to find hold up nobody else either', async (t) => {
  const client = await startService(t)
  const others = await otherMerchantsKey(client)
  const blocker = await client.service.runtime.postgres.pool.connect()
  t.teardown(() => blocker.release())
  await blocker.query('begin')
  await blocker.query('lock table public_events, answers in access exclusive mode')
  const hanging: Promise<Answer>[] = []
  for (let count = 0; count < greedy; count++) {
    hanging.push(client.get('/api/v1/events?types[]=payout.failed'))
    hanging.push(client.get(`/api/v1/idempotency-keys/key-${count}`))
  }
  for (const key of [client.liveKey, others])
    t.equal((await client.get(`/api/v1/payouts/${randomUUID()}`, { key })).status, 404)
  await blocker.query('rollback')
  const answers = await Promise.all(hanging)
  await lawOver(t, answers, ({ status }) => t.ok([200, 404, 503].includes(status), String(status)))
})

t.test('what hangs of one share leaves connections to the others', async (t) => {
  const { url, pool } = await testDatabase(t)
  const { reads, close } = await connectPostgres({ url, dataDirectory: '' })
  t.teardown(close)
  const blocker = await pool.connect()
  t.teardown(() => blocker.release())
  await blocker.query('select pg_advisory_lock(1)')
  const ended: string[] = []
  const hang = { text: 'select pg_advisory_lock_shared(1)' }
  const read = () => reads.query('greedy', hang).finally(() => ended.push('one that hangs'))
  const hanging = Promise.allSettled(Array.from({ length: greedy }, read))
  await reads.query('another', { text: 'select 1' })
  t.strictSame(ended, [], 'it has waited for none of them')
  await blocker.query('select pg_advisory_unlock(1)')
  await hanging
})

t.test('shares take turns, and none waits without end', async (t) => {
  const { url } = await testDatabase(t)
  const { reads, close } = await connectPostgres({ url, dataDirectory: '' })
  t.teardown(close)
  const ended: string[] = []
  const read = (share: string) =>
    reads.query(share, { text: 'select pg_sleep(0.01)' }).then(() => void ended.push(share))
  const first = Array.from({ length: 90 }, () => read('first'))
  const second = Array.from({ length: 10 }, () => read('second'))
  await Promise.all(second)
  t.ok(ended.filter((share) => share === 'first').length < 60, 'who came later is not last')
  await Promise.all(first)
  const many = Array.from({ length: 200 }, () => read('third'))
  const results = await Promise.allSettled(many)
  const refused = results.filter(({ status }) => status === 'rejected')
  t.not(refused.length, 0)
  await lawOver(t, refused as PromiseRejectedResult[], ({ reason }) => t.type(reason, ShareExhaustedError))
})

t.test('lists by what most rows lack find it by an index that leaves those out', async (t) => {
  const { service } = await startService(t)
  const { pool } = service.runtime.postgres
  const published = await publications(pool)
  const filters = readModels.flatMap((model) =>
    model.kind === 'documents' ? (model.sparse ?? []).map((column) => ({ model, column })) : [],
  )
  const connection = await pool.connect()
  t.teardown(() => connection.release(true))
  await connection.query('set enable_seqscan = off; set enable_bitmapscan = off')
  await lawOver(t, filters, async ({ model, column }) => {
    const source = { ...sourceOf(model, published.get(model.name)!), hasTotals: false }
    const where = ['merchant', 'livemode', column].map(
      (name) => ({ column: name, operator: '=', value: '' }) as const,
    )
    const { text } = pageStatement(source, { from: model.name, where, order: 'created', limit: 20 })
    const { rows } = await connection.query<{ 'QUERY PLAN': string }>(`explain (generic_plan) ${text}`)
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n')
    t.match(plan, `merchant_livemode_${column}_created`, model.name)
    t.match(plan, new RegExp(`Index Cond: .*\\b${column} = \\$3`), model.name)
    const { rows: indexes } = await pool.query<{ indexdef: string }>(
      'select indexdef from pg_indexes where schemaname || $1 || tablename = $2',
      ['.', source.table],
    )
    const holding = indexes.filter(({ indexdef }) => new RegExp(`\\(.*\\b${column}\\b`).test(indexdef))
    t.ok(
      holding.every(({ indexdef }) => indexdef.endsWith(`WHERE (${column} IS NOT NULL)`)),
      model.name,
    )
  })
})

t.test('what lists search in has an index that finds parts of texts', async (t) => {
  const { service } = await startService(t)
  const { pool } = service.runtime.postgres
  const searching = routes.filter(({ search }) => search)
  await lawOver(t, searching, async ({ operation, from, search }) => {
    const { version, generation } = (await publications(pool)).get(from!.name)!
    const { rows } = await pool.query<{ indexdef: string }>(
      'select indexdef from pg_indexes where schemaname = $1 and tablename = $2',
      ['read', `${from!.name}_v${version}_${generation}`],
    )
    const definition = `gin (merchant, ${search} gin_trgm_ops)`
    t.ok(
      rows.some(({ indexdef }) => indexdef.endsWith(definition)),
      operation,
    )
  })
})
