import type { EventStore, Log } from '../../../packages/kernel/ports.ts'
import { DamagedStreamError, StoreAwayError, VersionConflictError } from '../../../packages/kernel/ports.ts'
import { readInPages } from '../../../packages/kernel/pages.ts'
import { LogSubscription } from '../log-subscription.ts'
import { OpenSubscriptions } from '../open-subscriptions.ts'
import { RecentEvents } from '../recent-events.ts'
import type { ProposedEvent } from './messages/append.ts'
import { Appender, type Written } from './appender.ts'
import { Calls } from './calls.ts'
import { clientFor, disconnect, hostsOf, messageOf } from './client.ts'
import { EventStoreRightsError, isAway } from './errors.ts'
import { History } from './history.ts'
import { IntactStreams } from './streams/intact.ts'
import { LogReader } from './log-reader.ts'
import { LiveTail } from './live-tail.ts'
import { PassedOver } from './streams/passed-over.ts'
import { OwnStreams } from './streams/own.ts'
import { Reader } from './reader.ts'
import { RevisionOffsets } from './streams/revision-offsets.ts'
import { SeenLog, type LogWentBackError } from '../seen-log.ts'
import { StreamNames } from './streams/names.ts'

export interface EventStoreDbOptions {
  /** `esdb://host:2113` for one node, `esdb+discover://host:2113` for a cluster; options follow a `?`. */
  readonly url: string
  /** Put before each stream's name on the server, so that several installations can share it. */
  readonly prefix?: string
  /**
   * Categories of our streams; all others belong to somebody else. Left out: everything behind the prefix.
   */
  readonly categories?: readonly string[]
  /** Short-lived categories, whose streams need no check of their metadata. */
  readonly shortLived?: readonly string[]
  /** How long an append may take before its outcome counts as unknown. */
  readonly appendTimeoutMs?: number
  /** Calls that appends are spread over; with one, they are carried out in order of arrival. */
  readonly lanes?: number
  readonly log?: Pick<Log, 'warn'>
  /** Called when the server has lost events that this process has seen. Left out: it throws. */
  readonly onLogWentBack?: (error: LogWentBackError) => void
}

/** An event store that knows which history it holds. */
export interface EventStoreDb extends EventStore {
  readonly history: History
  /** Gives the history an id if it has none: the first time a service starts on this store. */
  beginHistory(id: string): Promise<void>
  /** Learns where others have written into our streams, so that `write` needs to look at none of them. */
  learnOffsets(): Promise<void>
  /** Writes events as they are; undefined when the stream is elsewhere. */
  write(stream: string, expected: number, events: readonly ProposedEvent[]): Promise<Written | undefined>
}

/** Events per page of a long read. */
const eventsPerPage = 5_000
/** More than a copy of any size writes down. */
const notesMax = 10_000_000

/** The event store on an EventStoreDB server or cluster, 23.10 or later. Throws when it cannot be reached. */
export async function openEventStoreDb(options: EventStoreDbOptions): Promise<EventStoreDb> {
  const client = clientFor(options.url)
  const parts = partsOf(new Calls(client), options)
  const store = assemble(parts, () => disconnect(client))
  try {
    await requireRights(parts)
    return store
  } catch (error) {
    await store.close()
    if (error instanceof EventStoreRightsError) throw error
    // Without it nobody knows where events stand, and entries would be made twice.
    if (error instanceof DamagedStreamError)
      throw new Error(`${error.message}: see "What never to do to our streams" in docs/operations.md`)
    const message = `EventStoreDB at ${hostsOf(options.url)} cannot be reached: ${messageOf(error)}`
    throw new Error(message, { cause: isAway(error) ? new StoreAwayError(error) : error })
  }
}

/** What the user may not do, or others have done, is said at the start, and not to the first merchant. */
async function requireRights({ names, history, reader, intact, appender }: Parts): Promise<void> {
  await reader.ping()
  await intact.require(names.history)
  await history.load()
  await appender.requireRight()
}

type Parts = ReturnType<typeof partsOf>

/** The parts that work together over one client. */
function partsOf(calls: Calls, options: EventStoreDbOptions) {
  const { prefix = '', categories, shortLived = [], onLogWentBack = fail } = options
  const { appendTimeoutMs: timeoutMs = 5_000, lanes = 4 } = options
  const names = new StreamNames({ prefix, categories })
  const passedOver = new PassedOver(options.log)
  const seen = new SeenLog({ engine: 'EventStoreDB', onLost: onLogWentBack })
  const history: History = new History({
    read: async () => (await reader.ownedBy(names.history, { from: 0, count: notesMax })) ?? [],
    append: async (expected, event) => {
      if (await appender.write(names.history, expected, [event])) return
      throw new VersionConflictError(names.history, expected)
    },
  })
  const offsets = new RevisionOffsets(() => seen.doubts)
  const own: OwnStreams = new OwnStreams({
    read: (stream, part) => reader.ownedBy(stream, part),
    stored: (event) => reader.stored(event),
    offsets,
    requireVisible: (stream) => intact.requireVisible(stream),
    requireSameLog: () => reader.requireSameLog(),
  })
  const reader: Reader = new Reader({ calls, names, history, passedOver, own, seen, head: () => log.head() })
  const log: LogReader = new LogReader({ calls, names, history, reader, offsets, seen })
  const intact: IntactStreams = new IntactStreams({
    metadataOf: (stream) => reader.metadataOf(stream),
    shortLived,
  })
  const parts = { calls, names, history, reader, seen }
  const appender = new Appender({ ...parts, intact, own, offsets, timeoutMs, lanes })
  const recent = new RecentEvents(log)
  const tail = new LiveTail({ ...parts, log, recent })
  return { ...parts, log, passedOver, intact, appender, recent, tail }
}

function assemble(parts: Parts, disconnect: () => Promise<void>): EventStoreDb {
  const { calls, passedOver, history, reader, log, appender, recent, tail } = parts
  const subscriptions = new OpenSubscriptions()
  return {
    append,
    readStream: (stream, from, limit) => readIntact(parts, stream, { from, limit }),
    readAll: (after, limit, filter) => log.readAll(after, limit, filter),
    readAt: (position) => log.readAt(position),
    readOn: (after) => readInPages(log, after, eventsPerPage),
    head: () => log.head(),
    subscribe: (wanted) => {
      log.followedTo(wanted.after)
      if (recent.include(wanted)) tail.restart()
      return subscriptions.add(new LogSubscription(recent, tail.bell, wanted))
    },
    irregularities: async () => [...(await log.oddities()), ...passedOver.irregularities],
    counts: () => ({ eventsPassedOver: passedOver.count, timesCutOff: tail.timesCutOff }),
    ping: () => reader.ping(),
    close,
    history,
    beginHistory: (id) => history.begin(id),
    learnOffsets: () => log.learnOffsets(),
    write: (stream, expected, events) => appender.write(stream, expected, events),
  }

  async function append(...wanted: Parameters<EventStore['append']>) {
    const appended = await appender.append(...wanted)
    tail.written(appended.position)
    return appended
  }

  async function close(): Promise<void> {
    await Promise.all([appender.close(), subscriptions.close(), tail.close()])
    calls.close()
    await disconnect()
  }
}

/** Throws for a stream of which something is hidden: it would look shorter than it is, or new. */
async function readIntact(
  { names, intact, reader }: Parts,
  stream: string,
  { from, limit }: { readonly from: number; readonly limit: number | undefined },
) {
  const isOurs = names.isOurs(stream)
  const isKnown = isOurs && intact.has(stream)
  if (isOurs && !isKnown) await intact.require(stream)
  const events = await reader.readStream(stream, from, limit)
  if (isKnown && events.length === 0 && from <= 0) await intact.requireStill(stream)
  return events
}

function fail(error: Error): never {
  throw error
}
