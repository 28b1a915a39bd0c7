import { randomUUID } from 'node:crypto'
import {
  END,
  EventStoreDBClient,
  jsonEvent,
  NO_STREAM,
  streamNameFilter,
  type Position,
} from '@eventstore/db-client'
import { openEventStoreDb } from '../../infra/event-store/eventstoredb/store.ts'
import { noStream, type NewEvent } from '../../packages/kernel/ports.ts'

/**
 * One side of a comparison with EventStoreDB's own client, in a process of its own whose CPU is measured:
 * appends with many in flight, or consumers that follow the log.
 */

export interface LoadWanted {
  readonly url: string
  readonly side: 'ours' | 'client'
  readonly work: 'append' | 'follow'
  /** Appends of two events each, or events followed. */
  readonly count: number
}

export interface LoadDone {
  readonly cpuMicroseconds: number
}

const inFlight = 256
const consumers = 4
const warmUp = 0.25

process.once('message', (wanted: LoadWanted) => void carryOut(wanted))

async function carryOut({ url, side, work, count }: LoadWanted): Promise<void> {
  const open = side === 'ours' ? ours : client
  const { append, follow } = await open(url)
  if (work === 'append') {
    await appendMany(append, count * warmUp)
    await measured(() => appendMany(append, count))
  } else {
    // The first events warm up V8; the writer waits to be told to go on.
    for (const [events, run] of [
      [count * warmUp, (work: () => Promise<void>) => work()],
      [count, measured],
    ] as const) {
      let isTold = false
      const tell = () => void (isTold ||= process.send!({ isReady: true }))
      await run(() => follow(events, tell))
    }
  }
  process.exit(0)
}

async function measured(work: () => Promise<void>): Promise<void> {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  await new Promise((sent) => process.send!({ cpuMicroseconds: user + system } satisfies LoadDone, sent))
}

async function appendMany(append: (stream: string) => Promise<unknown>, count: number): Promise<void> {
  let left = count
  const worker = async () => {
    while (left-- > 0) await append(`payout-${randomUUID()}`)
  }
  await Promise.all(Array.from({ length: inFlight }, worker))
}

interface Side {
  append(stream: string): Promise<unknown>
  /** Until this many events have arrived; calls back once it is listening. */
  follow(count: number, onListening: () => void): Promise<void>
}

const data = { amount: 5_000, currency: 'XOF', text: 'x'.repeat(150) }
const metadata = {
  merchant: randomUUID(),
  livemode: false,
  actor: 'bench',
  at: new Date(0).toISOString(),
  version: 1,
  correlation: randomUUID(),
}

async function ours(url: string): Promise<Side> {
  const store = await openEventStoreDb({ url, categories: ['payout'], shortLived: ['payout'] })
  const event = (): NewEvent => ({ id: randomUUID(), type: 'PayoutPaid', data, metadata })
  return {
    append: (stream) => store.append(stream, noStream, [event(), event()]),
    async follow(count, onListening) {
      const after = await store.head()
      const followers = Array.from({ length: consumers }, () => {
        let left = count
        return new Promise<void>((done) => {
          const subscription = store.subscribe({
            after,
            batchSize: 1_000,
            categories: ['payout'],
            everyMs: 25,
            handle: async (events) => {
              left -= events.length
              if (left > 0) return
              done()
              void subscription.close()
            },
          })
        })
      })
      onListening()
      await Promise.all(followers)
    },
  }
}

async function client(url: string): Promise<Side> {
  const connected = EventStoreDBClient.connectionString(url)
  const event = () =>
    jsonEvent({ id: randomUUID(), type: 'PayoutPaid', data: { ...data }, metadata: { ...metadata } })
  return {
    append: (stream) => connected.appendToStream(stream, [event(), event()], { expectedRevision: NO_STREAM }),
    async follow(count, onListening) {
      const filter = streamNameFilter({ prefixes: ['payout-'] })
      let left = count
      let from: 'end' | Position = END
      await new Promise<void>((done) => {
        const subscribe = () => {
          const subscription = connected.subscribeToAll({ fromPosition: from, filter })
          subscription.once('confirmation', onListening)
          // The server cut us off as too slow; a consumer resumes where it was.
          subscription.once('error', subscribe)
          subscription.on('data', ({ event }) => {
            from = event!.position
            if (--left > 0) return
            void subscription.unsubscribe()
            done()
          })
        }
        subscribe()
      })
    },
  }
}
