import type { Posted, Posts } from '../peers/posts.ts'
import { sizeIn, type Bench } from '../support/bench.ts'
import { endChild, forkChild, message } from '../support/children.ts'
import type { Contest, Row } from '../support/report/contest.ts'
import type { Measured } from '../support/report/measured.ts'
import { openDesk, payload, secretOfAll, Sink } from '../support/deliveries.ts'

export const deliver: Row = {
  name: 'deliver',
  ours: 'public events to recorded, signed deliveries at a local sink: the webhook service in a process of its own',
  peer: 'bare signed undici POSTs of the same size to the same sink, nothing recorded',
  unit: 'deliveries/s',
  target: { least: 0.6 },
  prepare,
}

const endpoints = 100

async function prepare(bench: Bench): Promise<Contest> {
  const count = sizeIn(bench.scale, { whole: 30_000, quick: 6_000 })
  const warm = count
  const sink = new Sink()
  const events = (count + warm) * (bench.scale.rounds + 1)
  const desk = await openDesk(bench, sink, { name: 'bench_deliver', endpoints, hangingOfTen: 0, events })
  const poster = forkChild('../peers/posts')
  const port = await sink.port()
  const post = async (posts: number): Promise<Measured> => {
    poster.send({ port, count: posts, body: payload, secret: secretOfAll } satisfies Posts)
    const { seconds } = await message<Posted>(poster)
    return { value: posts / seconds }
  }
  return {
    async ours() {
      await desk.deliver(warm)
      return { value: await desk.deliver(count) }
    },
    async peer() {
      await post(warm)
      return post(count)
    },
    note: () =>
      `${count} deliveries of ${payload.length} bytes a round, ${endpoints} endpoints, one event each`,
    async close() {
      await desk.close()
      await endChild(poster)
      await sink.close()
    },
  }
}
