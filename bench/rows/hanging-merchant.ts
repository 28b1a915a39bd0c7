import { sizeIn, type Bench } from '../support/bench.ts'
import type { Contest, Row } from '../support/report/contest.ts'
import { openDesk, Sink } from '../support/deliveries.ts'

export const hangingMerchant: Row = {
  name: 'hanging-merchant',
  ours: 'deliveries to healthy merchants while 200 endpoints of another merchant never answer',
  peer: 'the same events while the other merchant has no endpoints',
  unit: 'deliveries/s',
  target: { least: 0.9 },
  prepare,
}

const endpoints = 100
const crowd = 200

async function prepare(bench: Bench): Promise<Contest> {
  const count = sizeIn(bench.scale, { whole: 30_000, quick: 4_000 })
  const sink = new Sink()
  const events = (bench.scale.rounds + 1) * 2 * count
  const common = { endpoints, hangingOfTen: 0, events }
  const crowded = await openDesk(bench, sink, { ...common, name: 'bench_crowded', crowd })
  const free = await openDesk(bench, sink, { ...common, name: 'bench_free' })
  return {
    async ours() {
      await crowded.deliver(count)
      return { value: await crowded.deliver(count) }
    },
    async peer() {
      await free.deliver(count)
      return { value: await free.deliver(count) }
    },
    note: () =>
      `${count} events a round, one in a thousand of them for the ${crowd} endpoints that hang until the ` +
      'time-out of 15 s: they have more deliveries due than places from the first round on',
    async close() {
      await crowded.close()
      await free.close()
      await sink.close()
    },
  }
}
