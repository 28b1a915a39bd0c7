import { ErrorType } from '@eventstore/db-client'
import { DamagedStreamError, type StoredEvent } from '../../../packages/kernel/ports.ts'
import type { Calls } from './calls.ts'
import { explained, isOfType, retryWhileAway, within } from './errors.ts'
import { storedEvent } from './messages/events.ts'
import type { History } from './history.ts'
import type { OwnStreams } from './streams/own.ts'
import type { PassedOver } from './streams/passed-over.ts'
import type { SeenEvent, SeenLog } from '../seen-log.ts'
import type { ReadAnswer, ServerEvent } from './messages/read.ts'
import { readLog, readNewest, readStream } from './requests.ts'
import { hiddenBy } from './streams/metadata.ts'
import type { StreamNames } from './streams/names.ts'

/** The client lets a read wait for ever. */
const timeoutMs = 10_000
const pingTimeoutMs = 2_000

const vanished = new Error('a stream is gone of which events have come')

type Events = readonly StoredEvent[]
type ReadReq = Parameters<Calls['read']>[0]

export interface ReaderOptions {
  readonly calls: Pick<Calls, 'read'>
  readonly names: StreamNames
  readonly history: Pick<History, 'positionOf'>
  readonly passedOver: PassedOver
  readonly own: OwnStreams
  readonly seen: SeenLog
  /** Position of our newest event. */
  readonly head: () => Promise<number>
}

/** Reads that end. Each is retried while a cluster changes its leader. */
export class Reader {
  readonly #options: ReaderOptions

  constructor(options: ReaderOptions) {
    this.#options = options
  }

  /** Throws DamagedStreamError when part of it is missing. */
  async readStream(stream: string, from: number, limit = Infinity): Promise<Events> {
    if (limit <= 0 || stream === '') return []
    const found = await this.#options.own.read(stream, Math.max(0, from), limit)
    if (found === undefined && from > 0)
      throw new DamagedStreamError({ stream, problem: `is gone, although it had ${from} events` })
    return found ?? []
  }

  /** As the server has and numbers them; undefined when there is no such stream. */
  async ownedBy(
    stream: string,
    { from, count }: { readonly from: number; readonly count: number },
  ): Promise<readonly ServerEvent[] | undefined> {
    const request = readStream({ stream: this.#options.names.onServer(stream), from, count })
    try {
      return await this.#read(request, 'streams')
    } catch (error) {
      if (error === vanished)
        throw new DamagedStreamError({ stream, problem: 'was deleted while it was read' })
      if (!isOfType(error, ErrorType.STREAM_DELETED)) throw error
      throw new DamagedStreamError({ stream, problem: 'was deleted for ever' })
    }
  }

  /** The newest metadata of a stream; undefined when it has none. */
  async metadataOf(stream: string): Promise<Uint8Array | undefined> {
    const request = readNewest(this.#options.names.metadataOnServer(stream))
    try {
      return (await this.#read(request, 'metadata of streams'))?.[0]?.data
    } catch (error) {
      // The metadata of a tombstoned stream is gone with it.
      if (isOfType(error, ErrorType.STREAM_DELETED))
        throw new DamagedStreamError({ stream, problem: 'was deleted for ever' })
      throw error
    }
  }

  /** Throws when the server has lost events that this process has seen. */
  requireSameLog(): Promise<void> {
    return this.#options.seen.requireIfInDoubt((newest) => this.#has(newest))
  }

  /** The same for a new call, which the same connection need not carry. */
  requireSameServer(): Promise<void> {
    return this.#options.seen.require((newest) => this.#has(newest))
  }

  /** False when the log has lost this event; one that was hidden or deleted is still in it. */
  async #has({ stream, revision, position, id }: SeenEvent): Promise<boolean> {
    try {
      // First, because a scavenge removes a stream that was deleted for ever from the log as well.
      const event = await this.#options.own.find(stream, revision)
      if (event?.id === id && event.position === position) return true
      if ((await this.#options.head()) < position) return false
      if (event) return event.id === id
      const metadata = await this.metadataOf(stream)
      return metadata !== undefined && hiddenBy(metadata) !== undefined
    } catch (error) {
      // It cannot be read any more, for another reason.
      if (error instanceof DamagedStreamError) return true
      throw error
    }
  }

  async ping(): Promise<void> {
    const request = readLog({ from: 'end', count: 1, backwards: true })
    await within(pingTimeoutMs, this.#once(request, pingTimeoutMs)).catch(explained('$all'))
  }

  /** One of our events; undefined, and counted, for what others have written into our streams. */
  stored(event: ServerEvent): StoredEvent | undefined {
    const stored = storedEvent(event, this.#options)
    if (!stored) this.#options.passedOver.add(this.#options.names.ours(event.stream) ?? event.stream, event)
    return stored
  }

  #read(request: ReadReq, what: string): Promise<readonly ServerEvent[] | undefined> {
    const read = () => within(timeoutMs, this.#once(request, timeoutMs))
    return retryWhileAway(read, () => this.#options.seen.doubt()).catch(explained(what))
  }

  async #once(request: ReadReq, timeoutMs: number): Promise<readonly ServerEvent[] | undefined> {
    const events: ServerEvent[] = []
    let isFound = true
    await this.#options.calls.read(request, timeoutMs, (answer: ReadAnswer) => {
      if (typeof answer === 'object') events.push(answer)
      else if (answer === 'not found') isFound = false
    })
    // The server reads a long stream piece by piece.
    if (!isFound && events.length > 0) throw vanished
    return isFound ? events : undefined
  }
}
