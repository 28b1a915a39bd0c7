import { listParked } from '../../../infra/postgres/consumers/parked.ts'
import { auditFindings } from '../../../infra/postgres/transparency/audit-findings.ts'
import { backlog, type Backlog } from '../../../infra/postgres/consumers/backlog.ts'
import type { Postgres } from '../../../infra/postgres/client/connect.ts'
import type { Dependencies } from '../../../packages/contract/routes.ts'
import { cached } from '../cached.ts'
import { openCases } from '../books/open-cases.ts'
import type { Health } from './health.ts'

/** Not a failure of this process, which stays ready: everything else works. */
const noLiveRail = 'no live provider is configured: live payments, payouts and refunds are refused'

/** Counting the backlog reads part of it, so the result is shared by all metrics and readers for a while. */
const backlogKeptMs = 2_000

/** What every process of the service knows about the whole: dependencies, progress, and what is parked. */
export function observe(health: Health, { dependencies, postgres: { pool, watching } }: Observed): void {
  const { metrics } = health
  const waiting = cached(() => backlog(watching), backlogKeptMs)
  health.depend({ name: 'event_store', ping: () => dependencies.store.ping() })
  health.depend({ name: 'postgres', ping: () => pool.query('select 1') })
  health.tell(async () => {
    return {
      position: { log: await dependencies.store.head(), read_models: await dependencies.reads.position() },
      ...(dependencies.rail.serves({ livemode: true }) ? {} : { live: noLiveRail }),
    }
  })
  health.tell(async () => {
    const parked = await listParked(watching)
    return { parked: parked.map(({ consumer, stream, type, error }) => ({ consumer, stream, type, error })) }
  })
  metrics.gauge('postgres_connections_waiting', 'Queries that wait for a connection', () => pool.waitingCount)
  metrics.gauge('log_position', 'Position of the newest event', () => dependencies.store.head())
  metrics.counter(
    'event_store_events_passed_over_total',
    'Events in streams of ours that this service has not written',
    () => dependencies.store.counts().eventsPassedOver,
  )
  metrics.counter(
    'event_store_cut_offs_total',
    'Times the event store stopped sending new events, because this process was too busy to take them',
    () => dependencies.store.counts().timesCutOff,
  )
  metrics.gauges('consumer_position', 'How far a consumer of the log has come', {
    label: 'consumer',
    read: async () => ({ ...(await waiting()).positions, read_models: await dependencies.reads.position() }),
  })
  metrics.gauges('parked_events', 'Events that a consumer has set aside', {
    label: 'consumer',
    read: async () => parkedByAll(await waiting()),
  })
  observeCases(health, dependencies)
  observeAudit(health, watching)
  const pending = async () => (await waiting()).deliveriesPending
  metrics.gauge('webhook_deliveries_pending', 'Webhook deliveries to be made; counted up to 100,000', pending)
}

/** Of all that may park something: a figure that is missing says that nobody could count. */
function parkedByAll({ positions, parked }: Backlog): Readonly<Record<string, number>> {
  const none = Object.keys(positions).map((consumer) => [consumer, 0] as const)
  return { read_models: 0, ...Object.fromEntries(none), ...parked }
}

function observeCases({ metrics }: Health, { reads, clock }: Dependencies): void {
  const open = cached(() => openCases(reads, clock()), backlogKeptMs)
  metrics.gauges('cases_open', 'Cases that people have to decide', {
    label: 'kind',
    read: async () => (await open()).byKind,
  })
  metrics.gauge('case_age_seconds', 'Age of the oldest open case; 0 when none is open', async () => {
    return (await open()).oldestSeconds
  })
}

/** What the auditor has found is known to every process. */
function observeAudit(health: Health, watching: Postgres['watching']): void {
  const found = cached(() => auditFindings(watching), backlogKeptMs)
  health.alarm({
    name: 'audit',
    read: async () => {
      const { named, unnamed } = await found()
      return [...named.map(({ problem }) => problem), ...(unnamed > 0 ? [`and ${unnamed} more`] : [])]
    },
  })
  health.metrics.gauge(
    'audit_findings',
    'What the log, the books or the read models show that was not signed',
    async () => {
      const { named, unnamed } = await found()
      return named.length + unnamed
    },
  )
}

interface Observed {
  readonly dependencies: Dependencies
  readonly postgres: Postgres
}
