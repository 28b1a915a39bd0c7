import { CannotCopyError, type HistoryTarget } from '../../history/copy.ts'
import {
  OutcomeUnknownError,
  StoreAwayError,
  VersionConflictError,
  type StoredEvent,
} from '../../../packages/kernel/ports.ts'
import type { ProposedEvent } from './messages/append.ts'
import { copiedEvent, safePosition } from './messages/events.ts'
import { openEventStoreDb, type EventStoreDb, type EventStoreDbOptions } from './store.ts'

/** Distance between two waypoints, which is what a reader may have to skip. */
const eventsPerPlace = 1_000
/** The server takes appends of up to 1 MiB. */
const eventsPerAppend = 100
const lengthPerAppend = 256 * 1024
const appendTimeoutMs = 60_000

type TargetOptions = Pick<EventStoreDbOptions, 'url' | 'prefix' | 'categories'>

/**
 * EventStoreDB as the target of a copied history. Appends go over one call, which the server carries out in
 * order; answers are only awaited to learn that they succeeded.
 */
export async function openEventStoreDbTarget(options: TargetOptions): Promise<HistoryTarget> {
  const store = await openEventStoreDb({ ...options, appendTimeoutMs, lanes: 1 })
  await store.learnOffsets()
  const { history } = store
  return {
    store,
    id: history.id,
    surelyThrough: history.beforeLast?.position ?? 0,
    begin: (id) => history.note({ type: 'HistoryCopyBegun', data: { id } }),
    write: async (events) => {
      for (let from = 0; from < events.length; from += eventsPerPlace) {
        const place = await write(store, events.slice(from, from + eventsPerPlace))
        await history.note({ type: 'HistoryPlaced', data: place })
      }
    },
    complete: (id) => history.note({ type: 'HistoryCopied', data: { id } }),
    close: () => store.close(),
  }
}

async function write(store: EventStoreDb, events: readonly StoredEvent[]) {
  const written = await Promise.allSettled(appendsOf(events).map((append) => send(store, append)))
  let commit = -1
  for (const result of written) {
    if (result.status === 'rejected') throw explained(result.reason)
    if (result.value <= commit) throw new Error('EventStoreDB has not kept the order of what it was sent')
    commit = result.value
  }
  return { position: events.at(-1)!.position, commit }
}

/** Behind a broken connection nothing more is sent, so that a copy never has a gap. */
function explained(error: unknown): unknown {
  const kinds = [OutcomeUnknownError, StoreAwayError, VersionConflictError]
  if (!kinds.some((kind) => error instanceof kind)) return error
  const what = `EventStoreDB has not taken all that was sent (${(error as Error).message})`
  return new CannotCopyError(`${what}: copy again, and it goes on where this copy has ended.`)
}

/** Consecutive events of one stream. */
interface Append {
  readonly stream: string
  readonly expected: number
  readonly events: ProposedEvent[]
  length: number
}

/** Returns the commit position of the last event. */
async function send(store: EventStoreDb, { stream, expected, events }: Append): Promise<number> {
  const written = await store.write(stream, expected, events)
  if (!written) throw new VersionConflictError(stream, expected)
  if (written.commit === undefined)
    throw new Error(`EventStoreDB does not say where it has written to ${stream}`)
  return safePosition(written.commit)
}

function appendsOf(events: readonly StoredEvent[]): readonly Append[] {
  const appends: Append[] = []
  for (const event of events) {
    const proposed = copiedEvent(event)
    const length = proposed.data.length + proposed.metadata.length
    const last = appends.at(-1)
    if (last && last.stream === event.stream && hasRoom(last, length)) {
      last.events.push(proposed)
      last.length += length
    } else appends.push({ stream: event.stream, expected: event.revision - 1, events: [proposed], length })
  }
  return appends
}

/** A character takes up to three bytes. */
function hasRoom({ events, length }: Append, more: number): boolean {
  return events.length < eventsPerAppend && length + more <= lengthPerAppend
}
