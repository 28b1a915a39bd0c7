import {
  ErrorType,
  NO_STREAM,
  type AppendExpectedRevision,
  type AppendResult,
  type EventData,
  type EventStoreDBClient,
} from '@eventstore/db-client'
import {
  noStream,
  OutcomeUnknownError,
  StoreOverloadedError,
  VersionConflictError,
  type Appended,
  type NewEvent,
  type StoredEvent,
} from '../../../packages/kernel/ports.ts'
import { isOfType, wasRefused, within } from './errors.ts'
import { proposedEvents, safePosition } from './events.ts'
import type { Places } from './places.ts'

export interface AppenderOptions {
  readonly client: EventStoreDBClient
  readonly places: Pick<Places, 'positionOf'>
  /** So long an append may take before its outcome counts as unknown. */
  readonly timeoutMs: number
  /** To tell a repeated append from a conflict. */
  readonly readStream: (stream: string, from: number, limit: number) => Promise<readonly StoredEvent[]>
}

const inFlightMax = 10_000

/**
 * Every append is a call of its own. The client would rather send all over one stream, but an error of that
 * fails the appends of all clients of the process, and an answer that one of them gets later is an exception
 * that nobody can catch. (Both come from one map for all clients: 6.2.1, batchAppend.js, promiseBank.)
 */
export class Appender {
  readonly #options: AppenderOptions
  readonly #inFlight = new Set<Promise<unknown>>()
  #closed = false

  constructor(options: AppenderOptions) {
    this.#options = options
    // Protected, and the only way to say so: the client asks it which of the two ways the server knows.
    options.client['supports'] = async () => false
  }

  async append(stream: string, expected: number, events: readonly NewEvent[]): Promise<Appended> {
    const proposed = proposedEvents(stream, events)
    if (this.#closed || this.#inFlight.size >= inFlightMax) throw new StoreOverloadedError(stream)
    const writing = this.#write(stream, expected, proposed)
    this.#inFlight.add(writing)
    try {
      const result = await writing
      const written = result && appended(result, this.#options.places)
      return written ?? (await this.#readBack(stream, expected, events))
    } finally {
      this.#inFlight.delete(writing)
    }
  }

  /** Waits for the answers to all appends that were accepted, or until their time is over. */
  async close(): Promise<void> {
    this.#closed = true
    await Promise.allSettled(this.#inFlight)
  }

  /** Undefined when the stream is elsewhere: somebody else wrote, or this very append was written before. */
  async #write(stream: string, expected: number, events: EventData[]): Promise<AppendResult | undefined> {
    const { client, timeoutMs } = this.#options
    const expectedRevision: AppendExpectedRevision = expected === noStream ? NO_STREAM : BigInt(expected)
    const options = { expectedRevision, deadline: timeoutMs, requiresLeader: true }
    try {
      const result = await within(timeoutMs, client.appendToStream(stream, events, options))
      return result.success ? result : undefined
    } catch (error) {
      if (isOfType(error, ErrorType.WRONG_EXPECTED_VERSION)) return undefined
      if (wasRefused(error)) throw error
      throw new OutcomeUnknownError(stream, error)
    }
  }

  /** The server mostly knows repeated appends by their event ids, but not always where they stand. */
  async #readBack(stream: string, expected: number, events: readonly NewEvent[]): Promise<Appended> {
    const stored = await this.#readStream(stream, expected + 1, events.length)
    const last = stored.at(-1)
    const same = stored.every(({ id }, index) => id === events[index]?.id.toLowerCase())
    if (!last || !same || stored.length < events.length) throw new VersionConflictError(stream, expected)
    return { revision: last.revision, position: last.position }
  }

  async #readStream(stream: string, from: number, limit: number): Promise<readonly StoredEvent[]> {
    try {
      return await this.#options.readStream(stream, from, limit)
    } catch (error) {
      throw new OutcomeUnknownError(stream, error)
    }
  }
}

/** Undefined when the server does not say where the events stand. */
function appended(
  { nextExpectedRevision, position }: AppendResult,
  places: Pick<Places, 'positionOf'>,
): Appended | undefined {
  if (!position) return undefined
  const revision = Number(nextExpectedRevision)
  return { revision, position: places.positionOf(safePosition(position.commit)) }
}
