import { sizeIn, type Bench } from '../support/bench.ts'
import type { Contest, Row } from '../support/report/contest.ts'
import { openDesk, Sink } from '../support/deliveries.ts'

export const deadEndpoint: Row = {
  name: 'dead-endpoint',
  ours: 'deliveries to the healthy endpoints while three of ten never answer',
  peer: 'the same number to the same number of healthy endpoints, without the others',
  unit: 'deliveries/s',
  target: { least: 0.9 },
  prepare,
}

const endpoints = { all: 100, healthy: 70, hangingOfTen: 3 }

async function prepare(bench: Bench): Promise<Contest> {
  const perEndpoint = sizeIn(bench.scale, { whole: 300, quick: 20 })
  const sink = new Sink()
  const rounds = bench.scale.rounds + 1
  const common = { events: rounds * 2 * perEndpoint * endpoints.all }
  const { all, healthy, hangingOfTen } = endpoints
  const some = await openDesk(bench, sink, { ...common, name: 'bench_dead', endpoints: all, hangingOfTen })
  const none = await openDesk(bench, sink, {
    ...common,
    name: 'bench_alive',
    endpoints: healthy,
    hangingOfTen: 0,
  })
  return {
    async ours() {
      await some.deliver((endpoints.all * perEndpoint) / 2)
      return { value: await some.deliver(endpoints.all * perEndpoint) }
    },
    async peer() {
      await none.deliver((healthy * perEndpoint) / 2)
      return { value: await none.deliver(healthy * perEndpoint) }
    },
    note: () =>
      `${endpoints.all - healthy} of ${endpoints.all} endpoints hang until the time-out of 15 s; each endpoint ` +
      `has an origin of its own and gets ${perEndpoint} events a round`,
    async close() {
      await some.close()
      await none.close()
      await sink.close()
    },
  }
}
