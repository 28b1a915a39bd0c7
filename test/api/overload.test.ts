import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type pg from 'pg'
import t, { type Test } from 'tap'
import { Overload } from '../../services/api/http/overload.ts'
import { Metrics } from '../../services/composition/observing/metrics.ts'
import { Script } from '../support/processes/child-process.ts'
import { eventually } from '../support/eventually.ts'
import { lawOver } from '../support/law.ts'
import type { Offered } from '../support/processes/offer-process.ts'
import { temporaryDirectory, testDatabase } from '../support/postgres.ts'
import { serviceProcess } from '../support/processes/service-process.ts'
import type { MerchantClient } from '../support/service.ts'

const inFlightMax = 500
const body = { amount: 1_000, currency: 'XOF', transaction_country: 'SN' }
const gaugesOf = [
  'http_requests_in_flight',
  'http_requests_in_flight_limit',
  'http_requests_shed_total',
  'postgres_connections_waiting',
  'webhook_deliveries_held',
] as const
type Gauge = (typeof gaugesOf)[number]
type Gauges = Readonly<Record<Gauge, number>>

interface Offering {
  readonly seconds: number
  readonly connections: number
  /** Left out: as much as is answered. */
  readonly perSecond?: number
}

async function offer(t: Test, { url, sandboxKey }: MerchantClient, offering: Offering): Promise<Offered> {
  const { seconds, connections, perSecond = 0 } = offering
  const script = new Script(t, 'offer-process', [
    new URL(url).port,
    sandboxKey,
    ...[seconds, connections, perSecond].map(String),
  ])
  return JSON.parse(await script.line()) as Offered
}

async function gauges(client: MerchantClient): Promise<Gauges> {
  const { body: text } = await client.health<unknown>('/metrics')
  const read = (name: string) => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(String(text))?.[1])
  return Object.fromEntries(gaugesOf.map((name) => [name, read(name)])) as Gauges
}

/** Keys of those of these requests that have left something behind, and how often. */
async function traces(pool: pg.Pool, keys: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const { rows } = await pool.query<{ key: string; count: number }>(
    `select key, count(*) as count from (
       select metadata->>'idempotencyKey' as key from events
       union all select key from answers
     ) traces where key = any ($1) group by key`,
    [keys],
  )
  return new Map(rows.map(({ key, count }) => [key, count]))
}

interface Watched {
  readonly seen: readonly Gauges[]
  readonly health: ReadonlySet<number>
  readonly refusal: Awaited<ReturnType<MerchantClient['post']>> | undefined
}

/** What the service says of itself while the work is under way, and one of its refusals. */
async function watch(client: MerchantClient, work: Promise<unknown>): Promise<Watched> {
  const seen: Gauges[] = []
  const health = new Set<number>()
  let refusal: Watched['refusal']
  let isOver = false
  void work.finally(() => (isOver = true))
  while (!isOver) {
    seen.push(await gauges(client))
    for (const path of ['/healthz', '/readyz']) health.add((await client.get(path)).status)
    // More at once than the limit shrinks to: one alone may find a place each time.
    const asked = Array.from({ length: refusal ? 1 : 300 }, () =>
      client.post('/api/v1/payment-intents', body, { headers: { 'idempotency-key': 'mine' } }),
    )
    refusal ??= (await Promise.all(asked)).find(({ status }) => status === 503)
  }
  return { seen, health, refusal }
}

t.test('three times what it can take is refused in part, and all that it took is there', async (t) => {
  const { url, pool } = await testDatabase(t)
  const settings = { POSTGRES_URL: url, REQUESTS_IN_FLIGHT_MAX: String(inFlightMax), LOG_LEVEL: 'error' }
  const { client } = await serviceProcess(t, temporaryDirectory(t), settings)
  await offer(t, client, { seconds: 2, connections: 32 })
  const usual = await offer(t, client, { seconds: 3, connections: 32 })
  const perSecond = 3 * usual.perSecond
  const offering = offer(t, client, { seconds: 6, connections: 1_500, perSecond })
  const { seen, health, refusal } = await watch(client, offering)
  const flood = await offering
  t.comment(summary(usual, flood, seen))

  t.ok(flood.refused.length > 0, 'some were refused')
  t.ok(flood.acknowledged.length > 0, 'some were not')
  t.strictSame(flood.others, [], 'nobody was answered anything else')
  t.strictSame([...health], [200], 'health and readiness are always told')
  t.match(refusal, { status: 503, body: { code: 'IKW-SYS-005', retryable: true, status: 503 } })
  t.match(refusal?.headers.get('retry-after'), /^[123]$/)
  t.ok(refusal?.headers.get('ikw-request-id'), 'a refusal can be asked about')

  const kept = await traces(pool, flood.acknowledged)
  t.strictSame(
    flood.acknowledged.filter((key) => kept.get(key) !== 1),
    [],
    'what was taken is there, once',
  )
  t.strictSame([...(await traces(pool, flood.refused))], [], 'what was refused has left no trace')
  await lawOver(t, seen, (now) => {
    t.ok(now.http_requests_in_flight <= inFlightMax, `${now.http_requests_in_flight} in flight`)
    t.ok(now.http_requests_in_flight_limit <= inFlightMax)
    t.ok(
      now.postgres_connections_waiting <= inFlightMax,
      `${now.postgres_connections_waiting} wait for Postgres`,
    )
    t.ok(now.webhook_deliveries_held <= 20_000, `${now.webhook_deliveries_held} deliveries in memory`)
  })

  const headers = { 'idempotency-key': flood.refused[0]! }
  t.equal(
    (await client.post('/api/v1/payment-intents', body, { headers })).status,
    201,
    'the next one is taken',
  )
  await eventually(
    () => gauges(client),
    (now) => now.http_requests_in_flight === 0 && now.http_requests_in_flight_limit === inFlightMax,
  )
  t.equal((await gauges(client)).http_requests_shed_total >= flood.refused.length, true)
})

t.test('a request whose client has gone is in flight until the work on it has ended', async (t) => {
  const metrics = new Metrics()
  const overload = new Overload({ baseUrl: '', inFlightMax: 1, metrics, spared: new Set() })
  const begun: ServerResponse[] = []
  const guarded = overload.guard((request, response) => {
    if (request.url === '/long') begun.push(response)
    else response.end()
  })
  const server = createServer(guarded).listen(0, '127.0.0.1')
  t.teardown(() => {
    overload.close()
    server.close().closeAllConnections()
  })
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const leaving = new AbortController()
  const left = fetch(`${url}/long`, { signal: leaving.signal }).catch(() => undefined)
  await eventually(
    async () => begun.length,
    (count) => count === 1,
  )
  const [work] = begun
  const closed = once(work!, 'close')
  leaving.abort()
  await Promise.all([left, closed])
  t.equal((await fetch(url)).status, 503, 'the work still takes its place')
  work!.end()
  await eventually(
    async () => (await fetch(url)).status,
    (status) => status === 200,
  )
})

function summary(usual: Offered, flood: Offered, seen: readonly Gauges[]): string {
  const most = (name: Gauge) => Math.max(...seen.map((now) => now[name]))
  const least = Math.min(...seen.map((now) => now.http_requests_in_flight_limit))
  return [
    `takes ${usual.perSecond} a second (p50 ${usual.p50Ms} ms, p99 ${usual.p99Ms} ms)`,
    `offered ${flood.perSecond} a second: ${flood.acknowledged.length} taken, ${flood.refused.length} refused`,
    `p50 ${flood.p50Ms} ms, p99 ${flood.p99Ms} ms of what was taken`,
    `at most ${most('http_requests_in_flight')} in flight, limit at least ${least}`,
    `at most ${most('postgres_connections_waiting')} waited for Postgres`,
  ].join('; ')
}
