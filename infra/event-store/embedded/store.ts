import type { EventStore } from '../../../packages/kernel/ports.ts'
import { storedEvents } from './batch.ts'
import { copyLog } from './copy.ts'
import { polledBell } from './head-poll.ts'
import { Reader } from './reader.ts'
import { SeenLog, type LogWentBackError } from '../seen-log.ts'
import { openReadPool } from './session.ts'
import { Writer, type Placed } from './writer.ts'
import { LogSubscription } from '../log-subscription.ts'
import { OpenSubscriptions } from '../open-subscriptions.ts'
import { RecentEvents, type Piece } from '../recent-events.ts'

export interface EmbeddedStoreOptions {
  /** A fully migrated PostgreSQL database. */
  readonly url: string
  /** Appends are refused while this many are waiting. */
  readonly waitingMax?: number
  /**
   * Called when the server has lost events that this process has seen: every cache is then invalid. Left out:
   * it throws.
   */
  readonly onLogWentBack?: (error: LogWentBackError) => void
}

/**
 * The event store on PostgreSQL. Several processes may write to one log. Throws when the server cannot be
 * reached.
 */
export async function openEmbeddedStore(options: EmbeddedStoreOptions): Promise<EventStore> {
  const { pool, reader, recent, bell, writer } = partsOf(options)
  await writer.open()
  const subscriptions = new OpenSubscriptions()

  return {
    append: (stream, expected, events) => writer.append(stream, expected, events),
    readStream: (stream, from, limit) => reader.readStream(stream, from, limit),
    readAll: (after, limit, filter) => reader.readAll(after, limit, filter),
    async readAt(position) {
      const [event] = await reader.readAll(position - 1, 1)
      return event?.position === position ? event : undefined
    },
    readOn: (after) => copyLog(pool, after),
    head: () => reader.head(),
    subscribe: (wanted) => {
      recent.include(wanted)
      return subscriptions.add(new LogSubscription(recent, bell, wanted))
    },
    irregularities: async () => [],
    counts: () => ({ eventsPassedOver: 0, timesCutOff: 0 }),
    ping: async () => void (await pool.query('select')),
    close,
  }

  async function close(): Promise<void> {
    await subscriptions.close()
    await writer.close()
    await pool.end()
  }
}

/** The parts that work together on one database. */
function partsOf({ url, waitingMax = 50_000, onLogWentBack = fail }: EmbeddedStoreOptions) {
  const seen = new SeenLog({ engine: 'PostgreSQL', onLost: onLogWentBack })
  const pool = openReadPool(url, seen)
  const reader = new Reader(pool, seen)
  const recent = new RecentEvents(reader)
  const bell = polledBell(reader)
  const onWritten = (base: number, written: readonly Placed[]) => {
    recent.add({ base, pieces: written.map(pieceOf) })
    bell.advance(written.at(-1)?.through ?? 0)
  }
  const onLost = () => {
    recent.forget()
    bell.forget()
  }
  const writer = new Writer({ url, waitingMax, reader, seen, onWritten, onLost })
  return { pool, reader, recent, bell, writer }
}

function pieceOf({ append, after, through }: Placed): Piece {
  return { stream: append.stream, through, events: () => storedEvents(append, after) }
}

function fail(error: Error): never {
  throw error
}
