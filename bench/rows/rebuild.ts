import { setTimeout as pause } from 'node:timers/promises'
import knex from 'knex'
import { connectPostgres, type Postgres } from '../../infra/postgres/client/connect.ts'
import { publications, requestNewGeneration } from '../../infra/postgres/read-models/publication.ts'
import { readModels } from '../../projections/index.ts'
import { deciders } from '../../packages/domain/index.ts'
import { KnexProjector } from '../peers/knex-projector.ts'
import { sizeIn, type Bench } from '../support/bench.ts'
import type { Contest, Row } from '../support/report/contest.ts'
import type { Measured } from '../support/report/measured.ts'
import { openBenchRuntime } from '../support/merchants.ts'
import { withLogMoved } from '../support/moved-log.ts'
import { seededStore, type SeededStore } from '../support/seeded.ts'
import { startService } from '../support/service.ts'

export const rebuild: Row = {
  name: 'rebuild',
  ours: 'all read models anew from the whole log, beside the old ones, with the service running',
  peer: 'the same read models row by row through knex, from the beginning of the same log',
  unit: 'events/s',
  target: { least: 10 },
  valueLeast: 50_000,
  prepare,
}

const merchantsCount = 1_000
const eventsPerPayout = 6
const batchSize = 500

async function prepare(bench: Bench): Promise<Contest> {
  const payouts = Math.ceil(sizeIn(bench.scale, { whole: 1_000_000, quick: 60_000 }) / eventsPerPayout)
  const options = { merchants: merchantsCount, payouts, withEvents: true, withRows: false }
  const seeded = await seededStore(bench, 'bench_rebuild', options)
  const store = { ...seeded, database: await withLogMoved(bench, seeded.database) }
  const service = await startService(store.database)
  await service.settled()
  const postgres = await connectPostgres({ url: store.database.url, dataDirectory: '' })
  const peerEvents = sizeIn(bench.scale, { whole: 2_000, quick: 500 })
  return {
    ours: async () => perSecond(store.events, () => rebuildAll(postgres)),
    peer: () => rowByRow({ postgres, store, events: peerEvents }),
    note: () =>
      `${store.events} events, ${readModels.length} read models; the peer was given the ${peerEvents} ` +
      "events behind the merchants' own",
    async close() {
      await postgres.close()
      await service.close()
      await store.database.drop()
    },
  }
}

export async function perSecond(events: number, work: () => Promise<void>): Promise<Measured> {
  const started = performance.now()
  await work()
  return { value: events / ((performance.now() - started) / 1_000) }
}

const lookEveryMs = 50
const rebuildMaxMs = 10 * 60_000

/**
 * Requests a rebuild from the running service as an operator would, and waits until the last new table is
 * published.
 */
export async function rebuildAll({ pool }: Postgres): Promise<void> {
  for (const model of readModels) await requestNewGeneration(pool, model)
  for (const begun = performance.now(); performance.now() - begun < rebuildMaxMs; await pause(lookEveryMs)) {
    const shown = [...(await publications(pool)).values()]
    if (shown.every(({ generation, wanted }) => generation === wanted)) return
  }
  throw new Error('the read models were not built in time: see what the service has logged')
}

interface RowByRow {
  readonly postgres: Postgres
  readonly store: SeededStore
  readonly events: number
}

const peerGeneration = 900_000

/** Every log begins with merchants and keys; the payouts behind them are what is measured. */
async function rowByRow({
  postgres,
  store: { database, eventsBefore },
  events,
}: RowByRow): Promise<Measured> {
  const { dependencies, close } = await openBenchRuntime(database)
  const { store } = dependencies
  const projector = new KnexProjector(knex({ client: 'pg', connectionPool: postgres.pool }), deciders)
  await projector.open(readModels, peerGeneration)
  const result = await perSecond(events, async () => {
    for (let after = eventsBefore; after < eventsBefore + events; after += batchSize) {
      await projector.apply(await store.readAll(after, batchSize))
    }
  })
  await close()
  return result
}
