import { createHash } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type pg from 'pg'
import { v7 } from 'uuid'
import type { SinkReport } from '../peers/sink.ts'
import type { Dependencies } from '../../packages/contract/routes.ts'
import { secretContext, webhookEndpoint } from '../../packages/domain/webhook-endpoints/webhook-endpoint.ts'
import { financeViews } from '../../infra/postgres/finance/finance.ts'
import { peerPool, type Bench, type BenchDatabase } from './bench.ts'
import { endChild, forkChild, message } from './children.ts'
import { environmentOf, makeMerchants, openBenchRuntime, type BenchMerchant } from './merchants.ts'
import { skipToHead } from './seed.ts'
import { readModels } from '../../projections/index.ts'
import { deciders } from '../../packages/domain/index.ts'
import { startProjector } from '../../services/projector/main.ts'
import type { Publication } from '../webhooks.ts'

export class Sink {
  readonly #child = forkChild('../peers/sink')
  readonly #started = message<SinkReport>(this.#child)

  async port(): Promise<number> {
    return (await this.#started).port
  }

  async taken(): Promise<number> {
    this.#child.send({})
    return (await message<SinkReport>(this.#child)).taken
  }

  close(): Promise<void> {
    return endChild(this.#child)
  }
}

export interface DeskOptions {
  readonly name: string
  readonly endpoints: number
  /** Every endpoint has an origin of its own; this many of ten never answer. */
  readonly hangingOfTen: number
  /** Endpoints of one more merchant, none of which ever answers: one event in a thousand is its own. */
  readonly crowd?: number
  /** Public events, spread over the merchants in turns. */
  readonly events: number
}

/** The webhook service with its endpoints, and public events to feed it. */
export interface Desk {
  /** Feeds it the next events; returns the rate of recorded deliveries per second. */
  deliver(count: number): Promise<number>
  close(): Promise<void>
}

const lookEveryMs = 5
export const secretOfAll = `whsec_${createHash('sha256').update('bench').digest('base64')}`
export const payload = JSON.stringify({ type: 'payment_intent.created', data: { text: 'x'.repeat(600) } })

export async function openDesk(bench: Bench, sink: Sink, options: DeskOptions): Promise<Desk> {
  const database = await bench.database(options.name)
  const begin = await createMerchant(database, await sink.port(), options)
  const pool = peerPool(database, 1)
  const child = forkChild('../webhooks', environmentOf(database))
  await message(child)
  let after = begin
  return { deliver, close }

  async function deliver(count: number): Promise<number> {
    const { endpoints, hangingOfTen, crowd = 0 } = options
    const others = crowd > 0 ? crowdEvents(after - begin + count) - crowdEvents(after - begin) : 0
    const healthy = Math.floor(((count - others) / endpoints) * ((endpoints / 10) * (10 - hangingOfTen)))
    const taken = (await sink.taken()) + healthy
    const last = await newest(pool)
    const started = performance.now()
    child.send({ after, through: (after += count) } satisfies Publication)
    await message(child)
    while ((await sink.taken()) < taken) await pause(lookEveryMs)
    while ((await recorded(pool, last)) < healthy) await pause(lookEveryMs)
    return healthy / ((performance.now() - started) / 1_000)
  }

  async function close(): Promise<void> {
    child.kill('SIGKILL')
    await endChild(child)
    await pool.end()
    await database.drop()
  }
}

async function newest(pool: pg.Pool): Promise<number> {
  const text = 'select coalesce(max(id), 0)::integer as id from deliveries'
  return (await pool.query<{ id: number }>(text)).rows[0]!.id
}

/** Counting only the newest: a full count would take longer with each round. */
async function recorded(pool: pg.Pool, last: number): Promise<number> {
  const text = `select count(*)::integer as count from deliveries where id > $1 and status = 'succeeded'`
  return (await pool.query<{ count: number }>(text, [last])).rows[0]!.count
}

async function createMerchant(
  database: BenchDatabase,
  port: number,
  { endpoints, hangingOfTen, crowd = 0, events }: DeskOptions,
): Promise<number> {
  const runtime = await openBenchRuntime(database)
  const {
    dependencies,
    postgres: { pool },
  } = runtime
  const [crowded, ...merchants] = await makeMerchants(dependencies, endpoints + 1)
  const isHanging = (index: number) => index % 10 < hangingOfTen
  for (const [index, merchant] of merchants.entries()) {
    const url = `http://127.0.0.${1 + (index % 250)}:${port}/${isHanging(index) ? 'hang' : 'taken'}`
    await register(dependencies, merchant, url)
  }
  for (let index = 0; index < crowd; index++)
    await register(dependencies, crowded!, `http://127.0.1.${1 + index}:${port}/hang`)
  const { store, log } = dependencies
  const projector = await startProjector({
    pool,
    store,
    models: readModels,
    deciders,
    dependents: financeViews,
    log,
  })
  await dependencies.reads.reached(await store.head(), 60_000)
  await projector.close()
  const begin = await keepEvents(pool, { merchants, events, ...(crowd > 0 && { crowded: crowded!.id }) })
  await runtime.close()
  return begin
}

async function register(
  { executor, vault }: Dependencies,
  { id: merchant }: BenchMerchant,
  url: string,
): Promise<void> {
  const id = v7()
  const sealedSecret = vault.seal(secretOfAll, secretContext(id))
  const data = { url, enabledEvents: ['*'], sealedSecret, secretLast4: secretOfAll.slice(-4) }
  const envelope = { merchant, livemode: false, actor: 'bench', correlation: id, isNew: true }
  await executor.send(webhookEndpoint, id, { type: 'RegisterEndpoint', data }, envelope)
}

const crowdEvery = 1_000

/** Share of the events that belong to the crowd. */
function crowdEvents(events: number): number {
  return Math.floor(events / crowdEvery)
}

interface Kept {
  readonly merchants: readonly BenchMerchant[]
  readonly crowded?: string
  readonly events: number
}

/**
 * Stores public events as the relay would have, in a log long enough for their sequences. Returns the
 * position after which they begin: that of the last endpoint.
 */
async function keepEvents(pool: pg.Pool, { merchants, crowded, events }: Kept): Promise<number> {
  const { rows } = await pool.query<{ begin: number }>('select max(position)::integer as begin from events')
  const { begin } = rows[0]!
  await pool.query(
    `insert into events (position, stream, revision, id, type, data, metadata)
     select position, 'sample-' || position, 0, gen_random_uuid(), 'Sample', '{}', '{}'
     from generate_series($1::bigint + 1, $1::bigint + $2::bigint) as position`,
    [begin, events],
  )
  await pool.query(
    `insert into public_events (id, position, sequence, type, merchant, livemode, resource, payload, created_at)
     select 'evt_' || md5(number::text), $1::bigint + number, number, 'payment_intent.created',
       case when number % $6 = 0 and $5::uuid is not null then $5
         else ($3::uuid[])[1 + number % cardinality($3::uuid[])] end,
       false, 'payment_intent/' || number, $4, now()
     from generate_series(1, $2::bigint) as number`,
    [begin, events, merchants.map(({ id }) => id), payload, crowded ?? null, crowdEvery],
  )
  // The benchmark publishes by position; the relay never reads back what it stored.
  await pool.query('create index on public_events (position)')
  await skipToHead(pool)
  await pool.query('vacuum analyze')
  return begin
}
