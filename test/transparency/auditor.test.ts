import t from 'tap'
import { eventually } from '../support/eventually.ts'
import { startService, type TestService } from '../support/service.ts'

const age = /^audit_new_events_age_seconds (\S+)$/m
const metrics = async ({ health }: TestService) => (await health<string>('/metrics')).body

t.test('the auditor tells how long ago it has compared what was signed', async (t) => {
  const service = await startService(t, {}, { auditor: { newEventsEveryMs: 100 } })
  await service.post('/api/v1/payment-intents', { amount: 500, currency: 'XOF', transaction_country: 'SN' })
  const seconds = async () => Number(age.exec(await metrics(service))?.[1] ?? Infinity)
  await eventually(seconds, (since) => since < 5)
})
