import { readdirSync } from 'node:fs'
import t, { type Test } from 'tap'
import { auditFindings, AuditFindings } from '../../infra/postgres/transparency/audit-findings.ts'
import { vouchedKeys } from '../../infra/postgres/transparency/log-keys.ts'
import { auditWholeLog, NewEvents, type Audited, type Progress } from '../../services/notary/audit-log.ts'
import { eventsAtOnce } from '../../services/notary/paced.ts'
import { eventually } from '../support/eventually.ts'
import { temporaryDirectory } from '../support/postgres.ts'
import { startService, type TestService } from '../support/service.ts'
import { allSigned } from '../support/verifying/signed-backup.ts'

function auditedBy({ service }: TestService): Audited {
  const { postgres, dependencies, asStored: stored } = service.runtime
  const { pool } = postgres
  const { store, vault, clock: now } = dependencies
  return { pool, stored, store, now, witnesses: [], verifierKeys: () => vouchedKeys({ pool, vault }) }
}

const pace = { share: 1, signal: new AbortController().signal }
const progressOf = (pool: Audited['pool']) => new AuditFindings(pool, async () => undefined)
const order = { amount: 500, currency: 'XOF', transaction_country: 'SN' }

const age = /^audit_new_events_age_seconds (\S+)$/m
const metrics = async ({ health }: TestService) => (await health<string>('/metrics')).body

t.test('the auditor tells since when it has not compared what was signed', async (t) => {
  const service = await startService(t, {}, { auditor: { newEventsEveryMs: 100 } })
  await service.post('/api/v1/payment-intents', { amount: 500, currency: 'XOF', transaction_country: 'SN' })
  const { pool } = service.service.runtime.postgres
  const seconds = async () => Number(age.exec(await metrics(service))?.[1] ?? Infinity)
  await eventually(seconds, (since) => since < 5)
  // Nobody can compare anything while this lasts.
  const connection = await pool.connect()
  t.teardown(() => connection.release())
  await connection.query('begin; lock table log_checkpoints in access exclusive mode')
  await eventually(seconds, (since) => since > 1 && Number.isFinite(since))
  await connection.query('rollback')
  await eventually(seconds, (since) => since < 1)
})

t.test('what a look could not read to its end is compared by the next one', async (t) => {
  const service = await startService(t, {}, { auditor: { newEventsEveryMs: 3_600_000 } })
  const audited = auditedBy(service)
  const { pool, stored: asStored } = audited
  let isAway = false
  const readAll: typeof asStored.readAll = async (...range) => {
    if (isAway) throw new Error('the database is away')
    return asStored.readAll(...range)
  }
  const newEvents = new NewEvents({ ...audited, stored: { ...asStored, readAll } }, progressOf(pool), pace)
  await allSigned(service)
  t.strictSame(await newEvents.look(), [])
  await service.post('/api/v1/payment-intents', { amount: 500, currency: 'XOF', transaction_country: 'SN' })
  await allSigned(service)
  await pool.query(`update events set type = 'Another' where position = (select max(position) from events)`)
  isAway = true
  await t.rejects(newEvents.look(), /is away/)
  isAway = false
  t.match(await newEvents.look(), [/is not what was notarised$/])
})

t.test('an audit without room for its files says so, and what else it has found', async (t) => {
  const service = await startService(t, {}, { auditor: { newEventsEveryMs: 3_600_000 } })
  await allSigned(service)
  const directory = temporaryDirectory(t)
  const audited = { ...auditedBy(service), directory, keepFreeBytes: Number.MAX_SAFE_INTEGER }
  t.match(await auditWholeLog(audited, pace), {
    problems: [],
    uncompared: /^\d+ MB are free on the disk of /,
  })
  t.strictSame(readdirSync(directory), [], 'and leaves nothing')
  const { pool } = service.service.runtime.postgres
  await pool.query(
    `update events set metadata = jsonb_set(metadata::jsonb, '{actor}', '"x"') where position = 1`,
  )
  t.match(await auditWholeLog(audited, pace), {
    problems: [/is not what was notarised$/],
    uncompared: /free/,
  })
})

/** A service whose own auditor does nothing yet. */
async function unaudited(t: Test) {
  const service = await startService(t, {}, { auditor: { newEventsEveryMs: 3_600_000 } })
  await allSigned(service)
  const audited = auditedBy(service)
  const { pool } = audited
  const writeMore = async () => {
    await service.post('/api/v1/payment-intents', order)
    await allSigned(service)
  }
  const progress = progressOf(pool)
  const auditor = (own: Progress = progress) => new NewEvents(audited, own, pace)
  return { service, pool, progress, auditor, writeMore }
}

const changeNewest = `update events set type = 'Another' where position = (select max(position) from events)`

t.test('the next leader goes on where the last one has looked', async (t) => {
  const { pool, auditor, writeMore } = await unaudited(t)
  t.strictSame(await auditor().look(), [])
  await writeMore()
  await pool.query(changeNewest)
  await writeMore()
  t.match(await auditor().look(), [/is not what was notarised$/])
  t.strictSame(await auditor().look(), [], 'once')
  await writeMore()
  t.strictSame(await auditor().look(), [])
})

t.test('new events are compared in pieces, between which requests are answered', async (t) => {
  const { service, progress } = await unaudited(t)
  let pieces = 0
  const giveWay = () => void pieces++
  const auditor = new NewEvents({ ...auditedBy(service), giveWay }, progress, pace)
  const compared = async () => (await progress.compared())!.size
  t.strictSame(await auditor.look(), [])
  const before = await compared()
  await Promise.all(
    Array.from({ length: 2 * eventsAtOnce }, () => service.post('/api/v1/payment-intents', order)),
  )
  await allSigned(service)
  pieces = 0
  t.strictSame(await auditor.look(), [])
  const events = (await compared()) - before
  t.ok(events >= 2 * eventsAtOnce)
  t.ok(pieces >= events / eventsAtOnce, `${pieces} pieces`)
})

t.test('the next leader sees a tree that was written anew, or cut, before it came', async (t) => {
  const { pool, auditor, writeMore } = await unaudited(t)
  t.strictSame(await auditor().look(), [])
  await writeMore()
  await pool.query(
    `update log_tiles set hashes = set_byte(hashes, 0, get_byte(hashes, 0) # 1) where level = 0`,
  )
  t.match(await auditor().look(), [
    /^the tree over the first \d+ events is not the one that they were compared/,
  ])
  t.strictSame(await auditor().look(), [], 'and goes on from there')
  await pool.query('delete from log_checkpoints where size = (select max(size) from log_checkpoints)')
  t.match(await auditor().look(), [/^the log had signed \d+ events, and its newest checkpoint is over \d+$/])
})

t.test('a finding that cannot be written down is found again', async (t) => {
  const { pool, progress, auditor, writeMore } = await unaudited(t)
  let isAway = false
  const add: Progress['add'] = async (...found) => {
    if (isAway) throw new Error('the database is away')
    return progress.add(...found)
  }
  const one = auditor({ compared: () => progress.compared(), add })
  t.strictSame(await one.look(), [])
  await writeMore()
  await pool.query(changeNewest)
  isAway = true
  await t.rejects(one.look(), /is away/)
  isAway = false
  t.match(await one.look(), [/is not what was notarised$/])
  t.match((await auditFindings(pool)).named, [{ problem: /is not what was notarised$/ }])
})

t.test('of very many findings some are named and all are counted, until they are gone', async (t) => {
  const { service, pool, progress } = await unaudited(t)
  const problems = Array.from({ length: 150 }, (_, number) => `finding ${number}`)
  await progress.add(problems.slice(0, 60))
  await progress.add(problems)
  await progress.add(problems.slice(0, 10))
  const { named, unnamed } = await auditFindings(pool)
  t.strictSame([named.length, unnamed], [100, 50])
  t.match(await metrics(service), /^audit_findings 150$/m)
  const ready = await service.health<{ alarms: { audit: readonly string[] } }>('/readyz')
  t.equal(ready.body.alarms.audit.at(-1), 'and 50 more')
  await progress.replace(problems.slice(140), await progress.now())
  const left = await auditFindings(pool)
  t.strictSame([left.named.length, left.unnamed], [10, 0])
  await progress.replace([], await progress.now())
  await eventually(
    () => metrics(service),
    (text) => /^audit_findings 0$/m.test(text),
  )
})
