import t from 'tap'
import { eventually } from '../support/eventually.ts'
import { startService, type TestService } from '../support/service.ts'

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
