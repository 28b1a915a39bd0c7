import { v7 } from 'uuid'
import { openEmbeddedStore } from '../../../infra/event-store/embedded/store.ts'
import type { NewEvent } from '../../../packages/kernel/ports.ts'
import { connected, type Bench, type Times } from '../bench.ts'
import type { Measured } from '../report/measured.ts'
import { keepInFlight } from './in-flight.ts'
import { destination, money } from './template.ts'

export const inFlightMax = 64
const streamsPerWorker = Math.ceil(10_000 / inFlightMax)

const streams = Array.from({ length: inFlightMax }, () =>
  Array.from({ length: streamsPerWorker }, () => `payout-${v7()}`),
)
const turns = new Array<number>(inFlightMax).fill(0)

/** The next stream of a worker. Workers share no streams, so appends never wait for each other. */
export function streamOf(worker: number): string {
  const turn = turns[worker]!++
  return streams[worker]![turn % streamsPerWorker]!
}

/** An event as large as a payout's. */
export function sampleEvent(stream: string): NewEvent {
  const at = new Date().toISOString()
  const request = `req_${stream.slice(-32)}`
  const owner = { merchant: '0190a1b2-0000-7000-8000-000000000001', livemode: false }
  return {
    id: v7(),
    type: 'PayoutSent',
    data: { money, destination, at },
    metadata: { ...owner, actor: 'key:0190a1b2', at, version: 1, correlation: request, request },
  }
}

export interface OurAppends {
  measure(times: Times): Promise<Measured>
  close(): Promise<void>
}

/** Our own event store on a database of its own. */
export async function ourAppends(bench: Bench, name: string): Promise<OurAppends> {
  const database = await bench.database(name)
  await (await connected(database)).close()
  const store = await openEmbeddedStore({ url: database.url })
  const revisions = new Map<string, number>()
  const work = async (worker: number) => {
    const stream = streamOf(worker)
    const { revision } = await store.append(stream, revisions.get(stream) ?? -1, [sampleEvent(stream)])
    revisions.set(stream, revision)
  }
  return {
    measure: ({ warmMs, measuredMs }) => keepInFlight({ warmMs, measuredMs, workers: inFlightMax, work }),
    async close() {
      await store.close()
      await database.drop()
    },
  }
}
