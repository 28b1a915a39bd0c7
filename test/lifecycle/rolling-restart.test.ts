import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { Credentials } from '../../services/composition/credentials.ts'
import { Balancer } from '../support/processes/balancer.ts'
import { eventually } from '../support/eventually.ts'
import { temporaryDirectory, testDatabase } from '../support/postgres.ts'
import { ServiceApart, type ServiceName } from '../support/processes/service-apart.ts'

const clients = 12
const { url, pool } = await testDatabase(t)
const dataDirectory = temporaryDirectory(t)

function start(name: ServiceName, instance: string, port = 0): ServiceApart {
  const postgres = new URL(url)
  // Postgres knows by this name whose session it is.
  postgres.searchParams.set('application_name', instance)
  const settings = { POSTGRES_URL: postgres.href, DATA_DIR: dataDirectory, PORT: String(port) }
  const rest = { RATE_LIMIT: 'off', LOG_LEVEL: 'error', DRAIN_SECONDS: '2', INSTANCE: instance }
  return new ServiceApart(t, name, { ...settings, ...rest })
}

await start('setup', 'setup').ended
const { sandbox_key: key } = JSON.parse(
  readFileSync(join(dataDirectory, 'credentials.json'), 'utf8'),
) as Credentials
const projectors = ['projector-1', 'projector-2'].map((instance) => start('projector', instance))
const apis = ['api-1', 'api-2'].map((instance) => start('api', instance))
const ports = await Promise.all(apis.map((api) => api.port()))
await Promise.all(projectors.map((projector) => projector.port()))
const balancer = new Balancer(ports)
const address = await balancer.listen()
t.teardown(() => balancer.close())

const failures: string[] = []
const created = new Set<string>()
let isOver = false

/** One request after the other, each sent once: nothing that fails is repeated. */
async function work(): Promise<void> {
  while (!isOver) {
    const headers = {
      authorization: `Bearer ${key}`,
      'ikw-environment': 'sandbox',
      'content-type': 'application/json',
      'idempotency-key': randomUUID(),
    }
    const body = JSON.stringify({ amount: 1_000, currency: 'XOF', transaction_country: 'SN' })
    try {
      const answer = await fetch(`${address}/api/v1/payment-intents`, { method: 'POST', headers, body })
      const text = await answer.text()
      if (answer.status === 201) created.add((JSON.parse(text) as { id: string }).id)
      else failures.push(`${answer.status} ${text}`)
    } catch (error) {
      failures.push(`${String(error)}: ${String((error as Error).cause)}`)
    }
  }
}

/** Under load it takes a while, and shows that work goes on. */
async function answers(count: number): Promise<void> {
  const through = created.size + count
  await eventually(
    async () => created.size + failures.length,
    (now) => now >= through,
  )
}

t.test('behind a balancer, one API after the other is restarted and no client notices', async (t) => {
  const working = Promise.all(Array.from({ length: clients }, work))
  await answers(200)
  for (const [index, api] of apis.entries()) {
    const port = ports[index]!
    t.equal(await api.end('SIGTERM'), 0, `${api.instance} has ended`)
    t.notOk(balancer.inside.includes(port), 'the balancer gives it nothing')
    await answers(100)
    await start('api', `${api.instance}-again`, port).port()
    await eventually(
      async () => balancer.inside,
      (inside) => inside.includes(port),
    )
    await answers(100)
  }
  isOver = true
  await working
  t.strictSame(failures, [], `of ${created.size} requests`)
  const { rows } = await pool.query<{ count: number }>(
    `select count(*) as count from events where type = 'PaymentIntentCreated'`,
  )
  t.equal(rows[0]!.count, created.size, 'what was done was answered')
})

t.test('a leader that is told to stop has given up its lock when it ends, and the other leads', async (t) => {
  const leads = () => Promise.all(projectors.map((projector) => projector.leads()))
  const leading = await eventually(leads, (found) => found.filter(Boolean).length === 1)
  const leader = projectors[leading.indexOf(true)]!
  const standby = projectors[leading.indexOf(false)]!
  const toldAt = performance.now()
  t.equal(await leader.end('SIGTERM'), 0)
  const held = () =>
    pool.query<{ holder: string }>(
      `select application_name as holder from pg_locks join pg_stat_activity using (pid)
       where locktype = 'advisory' and datname = current_database() and application_name = $1`,
      [leader.instance],
    )
  // Other tests on the same server have a projector of that name. Postgres needs a moment to end a session
  // whose client has said goodbye; a lease would take seconds.
  const { rows } = await eventually(held, ({ rows }) => rows.length === 0, 2_000)
  t.strictSame(rows, [], 'no lease has to run out')
  await eventually(() => standby.leads(), Boolean)
  t.comment(`the standby led ${Math.round(performance.now() - toldAt)} ms after SIGTERM`)
  const shown = async () => {
    const { rows: counted } = await pool.query<{ count: number }>(
      'select count(*) as count from read.payment_intents',
    )
    return counted[0]!.count
  }
  await eventually(shown, (count) => count === created.size)
})
