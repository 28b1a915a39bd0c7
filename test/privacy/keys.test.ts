import { randomBytes } from 'node:crypto'
import t, { type Test } from 'tap'
import { connectPostgres } from '../../infra/postgres/client/connect.ts'
import { SubjectKeys } from '../../infra/postgres/privacy/subject-keys.ts'
import { openVault } from '../../infra/secrets/vault.ts'
import { identity } from '../../packages/contract/identity.ts'
import { payout } from '../../packages/domain/payouts/payout.ts'
import { openRuntime, type Runtime } from '../../services/composition/dependencies.ts'
import { eventually } from '../support/eventually.ts'
import { lawOver } from '../support/law.ts'
import { testDatabase } from '../support/postgres.ts'
import { startService, type TestService } from '../support/service.ts'

const subject = 'merchant/false/contact/+221770001212'
const masterKey = randomBytes(32)
const vault = openVault(() => ({ current: masterKey, older: [] }))
/** Short, so that a process has to look again soon. */
const freshMs = 20

let service: TestService

t.before(async () => {
  service = await startService(t, {}, { keysFreshMs: 100 })
})

/** Keys whose database can be told that more time has passed there. */
async function keysOfASleeper(t: Test, url: string) {
  const asleep = new URL(url)
  asleep.searchParams.set('options', '-c search_path=sleeper,pg_catalog,public')
  const { pool, close } = await connectPostgres({ url: asleep.href, dataDirectory: '' })
  t.teardown(close)
  await pool.query(`
    create schema sleeper;
    create table sleeper.slept (time interval not null);
    insert into sleeper.slept values ('0');
    create function sleeper.now() returns timestamptz language sql stable
      as $$ select pg_catalog.now() + time from sleeper.slept $$`)
  const sleep = (time: string) => pool.query('update slept set time = $1', [time])
  return { keys: new SubjectKeys({ pool, vault, freshMs }), sleep }
}

async function destroy(keys: SubjectKeys, subject: string): Promise<void> {
  await keys.retire([subject])
  await keys.destroyRetired([subject])
}

t.test('a process that slept for hours learns which keys were destroyed meanwhile', async (t) => {
  const { pool, url } = await testDatabase(t)
  const keys = new SubjectKeys({ pool, vault, freshMs })
  const { keys: sleepers, sleep } = await keysOfASleeper(t, url)
  const { id } = await keys.forSealing(subject)
  t.ok((await sleepers.forOpening([id]))[0])
  t.equal((await sleepers.forSealing(subject)).id, id)
  await destroy(keys, subject)
  await sleep('3 hours')
  t.strictSame(await sleepers.forOpening([id]), [false])
  t.not((await sleepers.forSealing(subject)).id, id)
})

t.test('two processes that make keys of the same people in opposite orders both get them', async (t) => {
  const { pool, url } = await testDatabase(t)
  const { pool: otherPool, close } = await connectPostgres({ url, dataDirectory: '' })
  t.teardown(close)
  const [one, other] = [pool, otherPool].map((own) => new SubjectKeys({ pool: own, vault, freshMs: 60_000 }))
  const keysOf = (keys: SubjectKeys, subjects: readonly string[]) =>
    Promise.all(subjects.map((subject) => keys.forSealing(subject)))
  const rounds = Array.from({ length: 12 }, (_, round) => round)
  await lawOver(t, rounds, async (round) => {
    const people = Array.from({ length: 500 }, (_, number) => `person ${round} ${number}`)
    const [made, backwards] = await Promise.all([keysOf(one!, people), keysOf(other!, people.toReversed())])
    t.strictSame(made, backwards.toReversed())
  })
})

t.test('a key is not used again by whoever has not looked for a while', async (t) => {
  const { pool } = await testDatabase(t)
  const [keys, reader] = [0, 1].map(() => new SubjectKeys({ pool, vault, freshMs }))
  const { id } = await keys!.forSealing(subject)
  t.ok((await reader!.forOpening([id]))[0])
  await destroy(keys!, subject)
  t.strictSame(await reader!.forOpening([id]), [false])
})

async function shownBy({ dependencies: { executor } }: Runtime, id: string): Promise<unknown> {
  const known = executor.remembered(payout, id)?.state as { destination: { msisdn: string } } | undefined
  return known?.destination.msisdn
}

t.test('a process that only reads drops what it knew of somebody who is erased', async (t) => {
  const { runtime, credentials } = service.service
  const msisdn = '+221770004444'
  const destination = { type: 'mobile_money', country: 'SN', operator: 'wave', msisdn }
  const { body } = await service.post('/api/v1/payouts', { amount: 500, currency: 'XOF', destination })
  const id = identity(String(body['id']), 'po')!
  const another = await openRuntime(runtime.configuration)
  t.teardown(() => another.close())
  await another.dependencies.executor.sendAll(payout, id, [])
  t.equal(await shownBy(another, id), msisdn)
  const { personalKeys } = runtime.dependencies
  const about = `${credentials.merchant_id}/false/contact/${msisdn}`
  await personalKeys.retire([about])
  await personalKeys.destroyRetired([about])
  await eventually(
    () => shownBy(another, id),
    (shown) => shown === undefined,
  )
  await another.dependencies.executor.sendAll(payout, id, [])
  t.equal(await shownBy(another, id), '[erased]')
})

t.test('a key that was tampered with seals and opens nothing, and all others do', async (t) => {
  const { pool } = await testDatabase(t)
  const before = new SubjectKeys({ pool, vault, freshMs })
  const [own, other] = [await before.forSealing('one'), await before.forSealing('other')]
  const forgeries = [
    "overlay(wrapped placing 'AAAA' from length(wrapped) - 3)",
    "regexp_replace(wrapped, '[^.]+$', '')",
    "'nonsense'",
    "(select wrapped from subject_keys where subject || '.' || generation = $2)",
  ]
  const { rows } = await pool.query<{ wrapped: string }>(
    "select wrapped from subject_keys where subject || '.' || generation = $1",
    [own.id],
  )
  await lawOver(t, forgeries, async (forgery) => {
    await pool.query(
      `update subject_keys set wrapped = ${forgery} where subject || '.' || generation = $1 and $2 <> ''`,
      [own.id, other.id],
    )
    const keys = new SubjectKeys({ pool, vault, freshMs })
    t.strictSame(await keys.forOpening([own.id, other.id]), [undefined, other.key], forgery)
    const [sealing, others] = await Promise.allSettled([keys.forSealing('one'), keys.forSealing('other')])
    t.match(sealing, { status: 'rejected', reason: { message: /not as it was written/ } })
    t.match(others, { status: 'fulfilled', value: { id: other.id } })
    await pool.query("update subject_keys set wrapped = $2 where subject || '.' || generation = $1", [
      own.id,
      rows[0]!.wrapped,
    ])
  })
  const strangers = openVault(() => ({ current: randomBytes(32), older: [] }))
  await t.rejects(new SubjectKeys({ pool, vault: strangers, freshMs }).forOpening([own.id, other.id]), {
    message: /which is not here$/,
  })
})
