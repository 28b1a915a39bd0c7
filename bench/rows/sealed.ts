import { connectPostgres } from '../../infra/postgres/client/connect.ts'
import { sizeIn, type Bench } from '../support/bench.ts'
import type { Contest, Row } from '../support/report/contest.ts'
import type { Measured } from '../support/report/measured.ts'
import { seededStore, type SeededOptions } from '../support/seeded.ts'
import { startService } from '../support/service.ts'
import { perSecond, rebuildAll } from './rebuild.ts'

export const sealed: Row = {
  name: 'sealed',
  ours: 'all read models anew from a log whose personal fields are sealed, each payout with a key of its own',
  peer: 'our own, from a log of the same payouts in the clear',
  unit: 'events/s',
  target: { least: 0.9 },
  prepare,
}

const merchants = 1_000
const eventsPerPayout = 6

interface Side {
  rebuilt(): Promise<Measured>
  close(): Promise<void>
}

async function prepare(bench: Bench): Promise<Contest> {
  const payouts = Math.ceil(sizeIn(bench.scale, { whole: 300_000, quick: 60_000 }) / eventsPerPayout)
  const options = { merchants, payouts, withEvents: true, withRows: false, toEachNumber: true }
  const [ours, peer] = [
    await side(bench, 'bench_sealed', options),
    await side(bench, 'bench_clear', { ...options, isSealed: false }),
  ]
  return {
    async warmUp() {
      await ours.rebuilt()
      await peer.rebuilt()
    },
    ours: () => ours.rebuilt(),
    peer: () => peer.rebuilt(),
    note: () => `${payouts * eventsPerPayout} events, ${payouts} of them sealed, each with another key`,
    close: async () => void (await Promise.all([ours.close(), peer.close()])),
  }
}

/** A service on such a log. */
async function side(bench: Bench, name: string, options: SeededOptions): Promise<Side> {
  const { database, events } = await seededStore(bench, name, options)
  const service = await startService(database)
  await service.settled()
  const postgres = await connectPostgres({ url: database.url, dataDirectory: '' })
  return {
    rebuilt: () => perSecond(events, () => rebuildAll(postgres)),
    async close() {
      await postgres.close()
      await service.close()
      await database.drop()
    },
  }
}
