import { readdirSync } from 'node:fs'
import t from 'tap'
import { vouchedKeys } from '../../infra/postgres/transparency/log-keys.ts'
import { auditWholeLog, NewEvents, type Audited } from '../../services/notary/audit-log.ts'
import { eventually } from '../support/eventually.ts'
import { temporaryDirectory } from '../support/postgres.ts'
import { startService, type TestService } from '../support/service.ts'
import { allSigned } from '../support/signed-backup.ts'

function auditedBy({ service }: TestService): Audited {
  const { postgres, dependencies, asStored: stored } = service.runtime
  const { pool } = postgres
  const { store, vault, clock: now } = dependencies
  return { pool, stored, store, now, witnesses: [], verifierKeys: () => vouchedKeys({ pool, vault }) }
}

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
  const newEvents = new NewEvents(
    { ...audited, stored: { ...asStored, readAll } },
    { share: 1, signal: new AbortController().signal },
  )
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
  const pace = { share: 1, signal: new AbortController().signal }
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
