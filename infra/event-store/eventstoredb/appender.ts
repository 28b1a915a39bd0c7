import { randomUUID } from 'node:crypto'
import {
  AppendTooLargeError,
  DamagedStreamError,
  noStream,
  OutcomeUnknownError,
  StoreOverloadedError,
  VersionConflictError,
  type Appended,
  type NewEvent,
} from '../../../packages/kernel/ports.ts'
import { AppendLane } from './append-lane.ts'
import type { ProposedEvent } from './messages/append.ts'
import type { Calls } from './calls.ts'
import { refusalOfAppend, type AppendRefusal } from './errors.ts'
import { proposedEvents, safePosition, withRevision } from './messages/events.ts'
import type { History } from './history.ts'
import type { IntactStreams } from './streams/intact.ts'
import type { OwnStreams } from './streams/own.ts'
import type { Reader } from './reader.ts'
import type { RevisionOffsets } from './streams/revision-offsets.ts'
import type { SeenLog } from '../seen-log.ts'
import type { StreamNames } from './streams/names.ts'

export interface AppenderOptions {
  readonly calls: Pick<Calls, 'openAppends'>
  readonly names: StreamNames
  readonly history: Pick<History, 'positionOf'>
  readonly intact: IntactStreams
  /** Distinguishes a repeated append from a conflict, and a conflict from what others have written. */
  readonly own: Pick<OwnStreams, 'read'>
  readonly offsets: RevisionOffsets
  readonly reader: Pick<Reader, 'requireSameLog'>
  readonly seen: SeenLog
  /** How long an append may take before its outcome counts as unknown. */
  readonly timeoutMs: number
  /** Writes to the socket once per turn of the event loop, with one message per lane. */
  readonly lanes: number
}

export interface Written {
  /** Of the append's last event, among ours. */
  readonly revision: number
  /** Position of that event in the server's log; undefined when the server does not say. */
  readonly commit: number | undefined
}

const inFlightMax = 10_000
/** A larger message breaks the call, and the appends of others with it. */
const bytesMax = 8 * 1024 * 1024

/** So often somebody else may have written in the moment before an append. */
const attemptsMax = 10

/** No stream has this many events. */
const unreachedRevision = 2 ** 48

/** Appends of one process. One append's failure is never taken for another's. */
export class Appender {
  readonly #options: AppenderOptions
  readonly #lanes: readonly AppendLane[]
  readonly #inFlight = new Set<Promise<unknown>>()
  #turn = 0
  #closed = false

  constructor(options: AppenderOptions) {
    this.#options = options
    const { calls, timeoutMs, lanes, seen, reader } = options
    const lane = {
      calls,
      timeoutMs,
      requireSameLog: () => reader.requireSameLog(),
      onEnded: () => seen.doubt(),
    }
    this.#lanes = Array.from({ length: lanes }, () => new AppendLane(lane))
  }

  async append(stream: string, expected: number, events: readonly NewEvent[]): Promise<Appended> {
    if (!this.#options.names.isOurs(stream)) throw new TypeError(`a stream cannot be named "${stream}"`)
    const proposed = proposedEvents(stream, events)
    if (this.#closed || this.#inFlight.size >= inFlightMax) throw new StoreOverloadedError(stream)
    const writing = this.#append(stream, expected, proposed)
    this.#inFlight.add(writing)
    try {
      return await writing
    } finally {
      this.#inFlight.delete(writing)
    }
  }

  /**
   * Undefined when the stream is elsewhere: somebody else wrote to it, or this very append was written
   * before. Also when nobody knows any more where it is, because the server may be another one.
   */
  async write(
    stream: string,
    expected: number,
    events: readonly ProposedEvent[],
  ): Promise<Written | undefined> {
    const lane = this.#lanes[this.#turn++ % this.#lanes.length]!
    const { names, offsets } = this.#options
    const { since } = offsets
    const before = offsets.onServer(stream, expected)
    const isMoved = before !== expected
    const numbered = isMoved
      ? events.map((event, index) => withRevision(event, expected + 1 + index))
      : events
    const append = { stream: names.onServer(stream), expected: before, events: numbered }
    const outcome = await lane.append(() => (offsets.since === since ? append : undefined))
    if (!outcome) return undefined
    if (outcome.kind === 'failed') {
      if (outcome.type === 'WrongExpectedVersion') return undefined
      throw failure(stream, outcome)
    }
    requireSequel(stream, outcome.revision, before + events.length)
    const revision = expected + events.length
    offsets.note(stream, { ours: revision, server: outcome.revision }, since)
    return { revision, commit: outcome.commit }
  }

  /** Throws when the user may not write: an append that can only be a conflict adds nothing. */
  async requireRight(): Promise<void> {
    const { names } = this.#options
    const event = { id: randomUUID(), type: 'Probe', data: '{}', metadata: '{}' }
    try {
      await this.write(names.history, unreachedRevision, [event])
    } catch (error) {
      // Nothing can have been written; whoever starts waits for a server that is away.
      throw error instanceof OutcomeUnknownError ? error.cause : error
    }
  }

  /** Waits for the answers to all accepted appends, or until they time out. */
  async close(): Promise<void> {
    this.#closed = true
    await Promise.allSettled(this.#inFlight)
  }

  async #append(stream: string, expected: number, events: readonly ProposedEvent[]): Promise<Appended> {
    const { intact, offsets } = this.#options
    requireSmall(stream, events)
    // What others have begun and somebody has deleted looks new, and would go on.
    if (expected === noStream && offsets.isBegun(stream)) await intact.requireVisible(stream)
    else if (expected === noStream) await intact.requireStill(stream)
    else if (!intact.has(stream)) await intact.require(stream)
    let isDoubtful = false
    for (let attempt = 1; attempt <= attemptsMax; attempt++) {
      await this.#requireThere(stream, expected)
      const { since } = offsets
      const before = offsets.onServer(stream, expected)
      const written = await this.write(stream, expected, events)
      const appended = written && this.#appended(stream, written, events)
      const found = appended ?? (await this.#readBack(stream, expected, events))
      if (found) return found
      // What is written, or was looked for on another server than it was sent to, is no conflict.
      if (written || offsets.since !== since) isDoubtful = true
      else if (offsets.onServer(stream, expected) === before) break
    }
    throw isDoubtful ? doubtful(stream) : new VersionConflictError(stream, expected)
  }

  /** What others have written must not be taken for the event of ours behind which this one belongs. */
  async #requireThere(stream: string, expected: number): Promise<void> {
    const { own, offsets } = this.#options
    for (let look = 1; look <= attemptsMax; look++) {
      if (offsets.knows(stream, expected)) return
      const { since } = offsets
      await own.read(stream, expected, 1)
      const isKnown = offsets.knows(stream, expected)
      if (!isKnown && offsets.since === since) throw new VersionConflictError(stream, expected)
    }
    if (!offsets.knows(stream, expected)) throw doubtful(stream)
  }

  /** Undefined where the position is not known: what stands among copied events was written before them. */
  #appended(stream: string, written: Written, events: readonly ProposedEvent[]): Appended | undefined {
    const { history, seen } = this.#options
    const { revision, commit } = written
    const position = commit === undefined ? undefined : history.positionOf(safePosition(commit))
    if (position === undefined) return undefined
    seen.note({ stream, revision, position, id: events.at(-1)!.id })
    return { revision, position }
  }

  /**
   * The server usually recognises repeated appends by their event ids, but does not always know where they
   * stand. Undefined where no event of ours follows: if others have written, it is now known where we go on.
   */
  async #readBack(
    stream: string,
    expected: number,
    events: readonly ProposedEvent[],
  ): Promise<Appended | undefined> {
    const found = await this.#read(stream, { from: expected + 1, count: events.length })
    const last = found.at(-1)
    if (!last) return undefined
    const isSame = found.every(({ id }, index) => id === events[index]?.id.toLowerCase())
    if (found.length !== events.length || !isSame) throw new VersionConflictError(stream, expected)
    return { revision: last.revision, position: last.position }
  }

  async #read(stream: string, { from, count }: { readonly from: number; readonly count: number }) {
    try {
      return (await this.#options.own.read(stream, from, count)) ?? []
    } catch (error) {
      if (error instanceof DamagedStreamError) throw error
      throw new OutcomeUnknownError(stream, error)
    }
  }
}

function requireSmall(stream: string, events: readonly ProposedEvent[]): void {
  const length = events.reduce((sum, { data, metadata }) => sum + data.length + metadata.length, 0)
  if (length > bytesMax) throw new AppendTooLargeError(stream, `it is larger than ${bytesMax} bytes`)
}

function doubtful(stream: string): OutcomeUnknownError {
  return new OutcomeUnknownError(stream, new Error('the connection to EventStoreDB ends again and again'))
}

/** The server has begun the stream anew, behind events that are hidden. */
function requireSequel(stream: string, revision: number, expected: number): void {
  if (revision === expected) return
  const problem = `went on with revision ${revision} where ${expected} was expected`
  throw new DamagedStreamError({ stream, problem })
}

/** Of an append that was answered, but not written as asked. */
function failure(stream: string, refusal: AppendRefusal): Error {
  const { type, message } = refusal
  if (type === 'StreamDeleted') return new DamagedStreamError({ stream, problem: 'was deleted for ever' })
  if (type === 'MaximumAppendSizeExceeded') return new AppendTooLargeError(stream, message)
  const cause = new Error(`${type} ${message}`)
  return refusalOfAppend(stream, refusal) ?? new OutcomeUnknownError(stream, cause)
}
