import t from 'tap'
import { PostgresAnswers } from '../../infra/postgres/idempotency/answers.ts'
import { connectPostgres } from '../../infra/postgres/client/connect.ts'
import { eventually } from '../support/eventually.ts'
import { testDatabase } from '../support/postgres.ts'

const key = {
  merchant: '00000000-0000-7000-8000-00000000000a',
  livemode: false,
  operation: 'POST /api/v1/payment-intents/{id}/confirm',
  key: 'order 7',
}
const fingerprint = 'the hash of the request'
const leaseMs = 2_000

t.test('what a process had in hand when it died is soon carried out by another', async (t) => {
  const database = await testDatabase(t)
  const { url } = database
  const other = new PostgresAnswers(database, { leaseMs })
  const dying = await connectPostgres({ url, dataDirectory: '' })
  await new PostgresAnswers(dying, { leaseMs }).begin(key, fingerprint)
  t.same(await other.begin(key, fingerprint), { state: 'running' }, 'but not while it lives')
  await dying.close()
  await eventually(
    () => other.begin(key, fingerprint),
    ({ state }) => state === 'begun',
  )
})

t.test('what a process still has in hand is nobody else’s, however long it takes', async (t) => {
  const database = await testDatabase(t)
  const [one, other] = [new PostgresAnswers(database), new PostgresAnswers(database, { leaseMs })]
  await one.begin(key, fingerprint)
  const begun = async () => {
    const text = 'select 1000 * extract(epoch from now() - started_at)::float8 as "agoMs" from answers'
    const { rows } = await database.pool.query<{ agoMs: number }>(text)
    return rows[0]!.agoMs
  }
  await eventually(begun, (agoMs) => agoMs > 2 * leaseMs)
  t.same(await other.begin(key, fingerprint), { state: 'running' })
  t.same(await other.begin(key, 'another hash'), { state: 'other_request' })
  const answer = { status: 200, body: { id: 'pi_1' } }
  await one.finish(key, answer)
  t.same(await other.begin(key, fingerprint), { state: 'done', fingerprint, answer })
})

t.test('what a process gives up after a failure is resumed by the next try at once', async (t) => {
  const database = await testDatabase(t)
  const [one, other] = [new PostgresAnswers(database), new PostgresAnswers(database)]
  t.same(await one.begin(key, fingerprint), { state: 'begun', isResumed: false })
  await one.release(key)
  t.same(await other.begin(key, 'another hash'), { state: 'other_request' })
  t.same(await other.begin(key, fingerprint), { state: 'begun', isResumed: true })
  await other.abandon(key)
  t.same(
    await one.begin(key, 'another hash'),
    { state: 'begun', isResumed: false },
    'but not what was refused',
  )
})

t.test('a key stays that of its request when the answer is no longer kept', async (t) => {
  const database = await testDatabase(t)
  const answers = new PostgresAnswers(database)
  await answers.begin(key, fingerprint)
  await answers.finish(key, { status: 200, body: { id: 'pi_1' } })
  await database.pool.query(`update answers set started_at = started_at - interval '31 days'`)
  t.same(await answers.begin(key, 'another hash'), { state: 'other_request' })
  t.same(await answers.begin(key, fingerprint), { state: 'begun', isResumed: true })
})
