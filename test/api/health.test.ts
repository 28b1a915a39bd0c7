import t from 'tap'
import { Health } from '../../services/composition/observing/health.ts'
import { eventually } from '../support/eventually.ts'
import { startService } from '../support/service.ts'

t.test('strangers learn whether the service is ready, and nothing else', async (t) => {
  const client = await startService(t)
  const asked = { key: '' }
  t.match(await client.get('/healthz', asked), { status: 200, body: { status: 'ok' } })
  const { status, body } = await client.get('/readyz', asked)
  t.strictSame([status, body], [200, { status: 'ready' }])
  t.equal((await client.get('/metrics', asked)).status, 404)
})

t.test('those who run it learn the rest on the port for health', async (t) => {
  const client = await startService(t)
  t.match(await client.health('/readyz'), {
    status: 200,
    body: { status: 'ready', dependencies: { postgres: { status: 'up' } }, parked: [], leads: {} },
  })
  const metrics = await client.health<string>('/metrics')
  t.match(metrics, { status: 200, body: /^webhook_deliveries_pending \d+$/m })
  t.equal((await client.health('/api/v1/balance')).status, 404)
})

t.test('they learn how far behind consumers are', async (t) => {
  const client = await startService(t)
  await eventually(
    async () => String((await client.health<string>('/metrics')).body),
    (text) => /^consumer_delay_seconds_count [1-9]\d*$/m.test(text),
  )
})

t.test('whoever locks a table keeps nobody waiting who asks how the service is', async (t) => {
  const client = await startService(t)
  const { pool, watching } = client.service.runtime.postgres
  const connection = await pool.connect()
  await connection.query('begin; lock table parked, audit_findings, deliveries in access exclusive mode')
  const [readiness, metrics] = await Promise.all([
    client.health('/readyz'),
    client.health<string>('/metrics'),
  ])
  await connection.query('rollback')
  connection.release()
  t.match(readiness, { status: 200, body: { position: {}, alarms_unread: [{ name: 'audit' }] } })
  t.notHas(readiness.body, { parked: [] })
  t.match(metrics.body, /^log_position \d+$/m)
  t.notMatch(metrics.body, /^(parked_events|audit_findings|webhook_deliveries_pending)\b/m)
  t.match((await watching.query('show statement_timeout')).rows, [{ statement_timeout: '5s' }])
})

t.test('however many ask at once, what a process stands on is asked once', async (t) => {
  const health = new Health()
  const asked = { pings: 0, facts: 0, gauges: 0 }
  const count = (what: keyof typeof asked) => async () => ++asked[what]
  health.depend({ name: 'database', ping: count('pings') })
  health.tell(async () => ({ facts: await count('facts')() }))
  health.metrics.gauge('waiting', 'What waits', count('gauges'))
  const paths = ['/readyz', '/metrics']
  await Promise.all(Array.from({ length: 100 }, (_, index) => health.answers[paths[index % 2]!]!()))
  await Promise.all(Array.from({ length: 100 }, () => health.publicAnswers['/readyz']!()))
  t.strictSame(asked, { pings: 1, facts: 1, gauges: 1 })
})

t.test('a process that stops says so at once, whatever it has said before', async (t) => {
  const health = new Health()
  t.equal((await health.publicAnswers['/readyz']!()).status, 200)
  health.stop()
  for (const answers of [health.publicAnswers, health.answers])
    t.match(await answers['/readyz']!(), { status: 503, body: /"stopping"/ })
})
