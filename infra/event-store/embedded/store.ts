import type { EventStore, SubscriptionOptions } from '../../../packages/kernel/ports.ts'
import { copyLog } from './copy.ts'
import { Reader } from './reader.ts'
import { RecentEvents } from './recent.ts'
import { openReadPool } from './session.ts'
import { EmbeddedSubscription, Tail } from './subscription.ts'
import { Writer, type Placed } from './writer.ts'
import { OpenSubscriptions } from '../open-subscriptions.ts'

export interface EmbeddedStoreOptions {
  /** A PostgreSQL database whose migrations have run. */
  readonly url: string
  /** Appends beyond so many waiting ones are not accepted. */
  readonly waitingMax?: number
}

/**
 * The event store on PostgreSQL. Several processes may write to one log. Throws when the server cannot be
 * reached.
 */
export async function openEmbeddedStore(options: EmbeddedStoreOptions): Promise<EventStore> {
  const { url, waitingMax = 50_000 } = options
  const pool = openReadPool(url)
  const reader = new Reader(pool)
  const recent = new RecentEvents(reader)
  const tail = new Tail(reader)
  const onWritten = (base: number, written: readonly Placed[]) => {
    recent.add(base, written)
    tail.advance(written.at(-1)?.through ?? 0)
  }
  const writer = new Writer({ url, waitingMax, reader, onWritten })
  await writer.open()
  const subscriptions = new OpenSubscriptions()

  return {
    append: (stream, expected, events) => writer.append(stream, expected, events),
    readStream: (stream, from, limit) => reader.readStream(stream, from, limit),
    readAll: (after, limit, filter) => reader.readAll(after, limit, filter),
    readOn: (after) => copyLog(pool, after),
    head: () => reader.head(),
    subscribe,
    ping: async () => void (await pool.query('select')),
    close,
  }

  function subscribe(options: SubscriptionOptions) {
    recent.include(options)
    return subscriptions.add(new EmbeddedSubscription(recent, tail, options))
  }

  async function close(): Promise<void> {
    await subscriptions.close()
    await writer.close()
    await pool.end()
  }
}
