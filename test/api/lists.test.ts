import t from 'tap'
import { requestNewGeneration, publications } from '../../infra/postgres/read-models/publication.ts'
import { readModels } from '../../projections/index.ts'
import { payouts } from '../../projections/payouts.ts'
import { routes } from '../../services/families.ts'
import { compareReadModels } from '../../services/audit/compare.ts'
import { deciders } from '../../packages/domain/index.ts'
import { eventually } from '../support/eventually.ts'
import { lawOver } from '../support/law.ts'
import { startService, type TestService } from '../support/service.ts'

interface Page {
  readonly data: readonly { readonly id: string; readonly status: string }[]
  readonly total_count: number
  readonly next_cursor: string | null
}

const destination = { type: 'mobile_money', country: 'SN', operator: 'wave', msisdn: '+221770000000' }
const order = { amount: 5_000, currency: 'XOF', destination }
const statuses = ['pending', 'in_transit', 'paid', 'failed', 'canceled']

let service: TestService

/** Five payouts, of which one has failed and one was paid. */
t.before(async () => {
  service = await startService(t)
  const created = []
  for (let count = 0; count < 5; count++) created.push((await service.post('/api/v1/payouts', order)).body)
  // Shown before they go on, so that their rows are changed and not only added.
  await eventually(total(''), (count) => count === 5)
  const [first, second] = created
  await service.post('/api/test/payouts/callback', { payout_id: first!['id'], status: 'failed' })
  await service.post('/api/test/payouts/callback', { payout_id: second!['id'], status: 'paid' })
  await eventually(total('status=failed'), (count) => count === 1)
  await eventually(total('status=paid'), (count) => count === 1)
})

const pool = () => service.service.runtime.postgres.pool

async function listed(query: string): Promise<Page> {
  return (await service.get<Page>(`/api/v1/merchant/payouts?${query}`)).body
}

function total(query: string): () => Promise<number> {
  return async () => (await listed(query)).total_count
}

async function tableName(): Promise<string> {
  const { version, generation } = (await publications(pool())).get(payouts.name)!
  return `read.payouts_v${version}_${generation}`
}

t.test('the total of a list is what its pages hold, whatever it is filtered by', async (t) => {
  const queries = [...statuses.map((status) => `status=${status}`), 'currency=XOF', 'currency=EUR', 'limit=3']
  for (const query of [...queries, 'status=paid&currency=XOF', 'from=2020-01-01T00:00:00.000Z']) {
    let found = 0
    let page = await listed(query)
    const { total_count: count } = page
    for (;;) {
      found += page.data.length
      t.equal(page.total_count, count, 'it does not depend on the page')
      if (page.next_cursor === null) break
      page = await listed(`${query}&cursor=${page.next_cursor}`)
    }
    t.equal(found, count, query)
  }
  t.equal(await total('limit=1')(), 5)
  t.equal(await total('page=50')(), 5, 'also on a page behind the last')
})

t.test('totals are right again when the read model is built anew, and go on from there', async (t) => {
  const before = (await publications(pool())).get(payouts.name)!.generation
  const old = await tableName()
  await requestNewGeneration(pool(), payouts)
  await eventually(
    () => publications(pool()),
    (shown) => shown.get(payouts.name)!.generation === before + 1,
  )
  t.equal(await total('')(), 5)
  t.equal(await total('status=failed')(), 1)
  const { id } = (await service.post('/api/v1/payouts', order)).body
  t.equal(await total('')(), 6)
  await service.post('/api/test/payouts/callback', { payout_id: id, status: 'failed' })
  await eventually(total('status=failed'), (count) => count === 2)
  const left = `select to_regclass('${old}_totals') as totals, to_regproc('${old}_count') as counter`
  t.strictSame((await pool().query(left)).rows, [{ totals: null, counter: null }], 'the old ones are gone')
})

t.test('a total that somebody has forged is what lists answer, and a difference', async (t) => {
  const compare = async () => {
    const { postgres, dependencies } = service.service.runtime
    const options = { pool: postgres.pool, store: dependencies.store, models: readModels, deciders }
    return (await compareReadModels({ ...options, onProgress: () => undefined })).differences
  }
  const forge = async (by: number) =>
    pool().query(`update ${await tableName()}_totals set rows = rows + ${by} where status = 'paid'`)
  t.strictSame(await compare(), [])
  await forge(100)
  t.equal(await total('status=paid')(), 101)
  t.match(await compare(), [{ model: 'payouts', row: '', problem: /total of .* paid XOF is wrong by 100/ }])
  await forge(-100)
  t.strictSame(await compare(), [])
})

t.test('where no totals are kept, lists count', async (t) => {
  const count = await total('')()
  await pool().query(
    `drop table ${await tableName()}_totals; drop function ${await tableName()}_count cascade`,
  )
  await eventually(total('status=paid'), (paid) => paid === 1)
  t.equal(await total('')(), count)
})

t.test('every list that answers a total has it kept for its filters', async (t) => {
  const counting = routes.filter(({ paging }) => paging === 'page')
  await lawOver(t, counting, ({ operation, from, filter = {} }) => {
    const counted = from?.kind === 'documents' ? (from.countedBy ?? []) : []
    t.strictSame(Object.keys(filter).sort(), [...counted].sort(), operation)
  })
})
