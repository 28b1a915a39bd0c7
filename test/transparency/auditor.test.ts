import t from 'tap'
import { vouchedKeys } from '../../infra/postgres/transparency/log-keys.ts'
import { NewEvents } from '../../services/notary/audit-log.ts'
import { eventually } from '../support/eventually.ts'
import { startService, type TestService } from '../support/service.ts'
import { allSigned } from '../support/signed-backup.ts'

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
  const { postgres, dependencies, asStored } = service.service.runtime
  const { pool } = postgres
  const { store, vault, clock: now } = dependencies
  let isAway = false
  const readAll: typeof asStored.readAll = async (...range) => {
    if (isAway) throw new Error('the database is away')
    return asStored.readAll(...range)
  }
  const stored = { ...asStored, readAll }
  const audited = {
    pool,
    stored,
    store,
    now,
    witnesses: [],
    verifierKeys: () => vouchedKeys({ pool, vault }),
  }
  const newEvents = new NewEvents(audited, { share: 1, signal: new AbortController().signal })
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
