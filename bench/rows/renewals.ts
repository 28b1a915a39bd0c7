import { setTimeout as pause } from 'node:timers/promises'
import type pg from 'pg'
import { v7 } from 'uuid'
import type { Dependencies } from '../../packages/contract/routes.ts'
import { subscription } from '../../packages/domain/subscriptions/subscription.ts'
import { renewAll, seedSubscriptions } from '../peers/renewals.ts'
import { peerPool, sizeIn, type Bench, type BenchDatabase } from '../support/bench.ts'
import type { Contest, Row } from '../support/report/contest.ts'
import { makeMerchants, openBenchRuntime, type BenchMerchant } from '../support/merchants.ts'
import type { Measured } from '../support/report/measured.ts'
import { number } from '../support/report/result.ts'
import { startService, type BenchService } from '../support/service.ts'

export const renewals: Row = {
  name: 'renewals',
  ours:
    'subscriptions that are due at one moment, renewed, invoiced with numbers and announced; the whole service, ' +
    'of low priority, and beside it the API in a process of its own',
  peer: 'plain SQL: the same in one transaction each, 16 connections, without a log',
  unit: 'renewals/s',
  target: { least: 0.25 },
  valueLeast: 2_000,
  rounds: 1,
  prepare,
}

const merchants = 100
const atOnce = 256
const connections = 16
/** Requests a second before and as long as they are renewed: how long they take must not double. */
const readsPerSecond = 200
const slowdownMost = 2
/** Time to fill the store, to start the service and to look at it before. */
const dueInMs = { whole: 180_000, quick: 45_000, short: 15_000 }

async function prepare(bench: Bench): Promise<Contest> {
  const count = sizeIn(bench.scale, { whole: 100_000, quick: 5_000 })
  const database = await bench.database('bench_renewals')
  const peerDatabase = await bench.database('bench_renewals_peer')
  const pool = peerPool(peerDatabase, connections)
  await seedSubscriptions(pool, count, merchants)
  const dueAt = Date.now() + dueInMs[bench.scale.stores]
  const keys = await seed(database, { count, dueAt })
  const service = await startService(database, 'all-in-one/main', { isBehind: true })
  const api = await startService(database, 'api/serve')
  let seen: Seen | undefined
  return {
    async ours() {
      seen = await measure(bench, { service, port: api.port, keys, database, count, dueAt })
      return seen
    },
    peer: async () => ({ value: await renewAll(pool) }),
    missed: () => {
      return seen && seen.slowdown > slowdownMost ? `at most ${slowdownMost} times is the target` : undefined
    },
    note: () =>
      `${count} subscriptions of ${merchants} merchants, each renewed once, each invoice numbered once; ` +
      `the p99 of ${seen!.lists} lists was ${number(seen!.slowdown)} times that of before`,
    async close() {
      await api.close()
      await service.close()
      await pool.end()
      await database.drop()
      await peerDatabase.drop()
    },
  }
}

interface Seen extends Measured {
  readonly lists: number
  readonly slowdown: number
}

interface Ready extends Due, Reading {
  readonly service: BenchService
}

/** Lists are read before and as long as subscriptions are renewed. */
async function measure(bench: Bench, { service, port, keys, ...due }: Ready): Promise<Seen> {
  const { count, dueAt } = due
  const reading = { port, keys }
  await service.settled()
  await payOut(bench, reading)
  await pause(operatorMs)
  await service.settled()
  if (Date.now() > dueAt) throw new Error('they were due before all was ready')
  const beforeMs = Math.min(5_000, Math.max(1_000, dueAt - Date.now() - 2_000))
  const { p99Ms: before } = await readLists(bench, reading, { measuredMs: beforeMs })
  await pause(Math.max(0, dueAt - Date.now()))
  const renewing = renewed(service, due)
  const [elapsedMs, { p99Ms, units: lists }] = await Promise.all([
    renewing,
    readLists(bench, reading, { measuredMs: (count / leastPerSecond) * 1_000, until: renewing }),
  ])
  return { value: (count * 1_000) / elapsedMs, p99Ms, lists, slowdown: p99Ms / before }
}

interface Reading {
  readonly port: number
  readonly keys: readonly string[]
}

/** So many of each merchant that a list is a full page. */
const payoutsEach = 20

/** The simulated operator pays after two seconds. */
const operatorMs = 3_000

/** What the lists show. */
async function payOut(bench: Bench, { port, keys }: Reading): Promise<void> {
  const plan = { flow: 'payout', keys, isPaid: true } as const
  const unitsMax = keys.length * payoutsEach
  await bench.generator.run({ port, connections, plan, warmMs: 0, measuredMs: 60_000, unitsMax })
}

interface Span {
  readonly measuredMs: number
  /** It ends with this. */
  readonly until?: Promise<unknown>
}

function readLists(bench: Bench, { port, keys }: Reading, { measuredMs, until }: Span) {
  const plan = { flow: 'list', keys, statuses: ['paid'] } as const
  const load = { port, connections, plan, warmMs: 200, perSecond: readsPerSecond, measuredMs }
  return bench.generator.run(load, until)
}

interface Seed {
  readonly count: number
  /** Their first period begins then: until that they are on trial. */
  readonly dueAt: number
}

async function seed(database: BenchDatabase, { count, dueAt }: Seed): Promise<readonly string[]> {
  const { dependencies, close } = await openBenchRuntime(database)
  const made = await makeMerchants(dependencies, merchants)
  let left = count
  const work = async () => {
    while (left > 0) await subscribe(dependencies, made[left-- % merchants]!, dueAt)
  }
  await Promise.all(Array.from({ length: atOnce }, work))
  await close()
  return made.map(({ key }) => key)
}

async function subscribe({ executor }: Dependencies, { id: merchant }: BenchMerchant, dueAt: number) {
  const id = v7()
  const item = { plan: v7(), name: 'Solar kit', quantity: 1, unitAmount: 5_000, meters: {} }
  const data = {
    customer: v7(),
    currency: 'XOF',
    items: [item],
    timing: {
      start: new Date(dueAt).toISOString(),
      end: null,
      trialDays: null,
      interval: 'month',
      timeZone: 'Africa/Dakar',
    },
    cancelAtPeriodEnd: false,
    metadata: {},
    invoicing: { pages: 'http://localhost/invoice', seed: v7() },
  } as const
  const envelope = { merchant, livemode: false, actor: 'bench', correlation: id, isNew: true }
  await executor.send(
    subscription,
    id,
    { type: 'StartSubscription', data: { ...data, items: [item] } },
    envelope,
  )
}

interface Due extends Seed {
  readonly database: BenchDatabase
}

const lookEveryMs = 100
/** Slower than this, something else is wrong. */
const leastPerSecond = 50

/** Until all have their numbers, and whoever follows the log has done its part. */
async function renewed(service: BenchService, { database, count, dueAt }: Due): Promise<number> {
  const pool = peerPool(database, 1)
  const until = dueAt + (count / leastPerSecond) * 1_000
  const look = numberedSince(pool)
  while ((await look()) < count) {
    if (Date.now() > until) throw new Error(`fewer than ${leastPerSecond} a second were renewed`)
    await pause(lookEveryMs)
  }
  await service.settled()
  const elapsedMs = Date.now() - dueAt
  const text = `
    select count(*)::integer as events, count(distinct stream)::integer as streams
    from events where type = $1`
  for (const type of ['SubscriptionRenewed', 'InvoiceIssued', 'InvoiceNumbered']) {
    const { rows } = await pool.query<{ events: number; streams: number }>(text, [type])
    const { events, streams } = rows[0]!
    if (events !== count || streams !== count) throw new Error(`${events} ${type} of ${streams} streams`)
  }
  await pool.end()
  return elapsedMs
}

/**
 * How many invoices have their number. Each look reads only what is newer than the last one: whoever counts
 * the whole log each time takes more of the processors from what is measured, the longer the log grows.
 */
function numberedSince(pool: pg.Pool): () => Promise<number> {
  let [numbered, through] = [0, 0]
  const text = `
    select count(*) filter (where type = 'InvoiceNumbered')::integer as numbered,
      max(position)::float8 as through
    from events where position > $1`
  return async () => {
    const { rows } = await pool.query<{ numbered: number; through: number | null }>(text, [through])
    numbered += rows[0]!.numbered
    through = rows[0]!.through ?? through
    return numbered
  }
}
