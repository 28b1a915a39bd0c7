import { randomUUID } from 'node:crypto'

/** One event as the server stores it: the bytes are the client's. */
export interface LogRecord {
  readonly stream: string
  readonly revision: number
  /** Commit and prepare position: equal for every event appended through gRPC. */
  readonly position: number
  readonly id: string
  readonly type: string
  readonly contentType: string
  readonly data: Uint8Array
  readonly metadata: Uint8Array
  /** In milliseconds since 1970. */
  readonly created: number
}

export type ProposedRecord = Omit<LogRecord, 'stream' | 'revision' | 'position' | 'created'>

export type AppendOutcome =
  /** `position` is -1 where the server does not know it. */
  | { readonly outcome: 'written'; readonly revision: number; readonly position: number }
  /** `current` is -1 when there is no such stream. */
  | { readonly outcome: 'wrong expected version'; readonly current: number }
  | { readonly outcome: 'stream deleted' }
  /** `type` is a message of the protocol, such as `MaximumAppendSizeExceeded`. */
  | { readonly outcome: 'failed'; readonly type: string; readonly code?: number; readonly message: string }

export type StreamRead = readonly LogRecord[] | 'not found' | 'deleted'

export interface StreamMetadata {
  readonly $tb?: number | string
  readonly $maxCount?: number
  /** In seconds. */
  readonly $maxAge?: number
  readonly $acl?: object
}

/** Roughly what a record takes on disk besides its bytes: it makes positions grow with gaps. */
const recordOverhead = 97
/** Of data, metadata and types of all events of an append. */
const appendBytesMax = 1024 * 1024
const noBytes = new Uint8Array(0)
/** `$tb` of a soft-deleted stream: the server writes the greatest possible number. */
const deletedBefore = '9223372036854775807'
const greatestRevision = 2 ** 63

interface Stream {
  readonly records: LogRecord[]
  /** Everything before this revision is hidden. */
  hiddenBefore: number
  maxCount: number
  maxAgeMs: number
  isTombstoned: boolean
}

/** The log of one node. It decides on appends as IndexWriter.CheckCommit of EventStoreDB 23.10 does. */
export class Log {
  readonly records: LogRecord[] = []
  /** How far this machine's clock is ahead of that of its clients. */
  clockAheadMs = 0
  readonly #streams = new Map<string, Stream>()
  readonly #watchers = new Set<() => void>()
  #end = 0

  append(name: string, expected: number | undefined, proposed: readonly ProposedRecord[]): AppendOutcome {
    if (proposed.reduce((sum, event) => sum + sizeOf(event), 0) > appendBytesMax) return tooLarge
    if (expected === undefined)
      throw new TypeError('without an expected revision, appends are repeated twice')
    const stream = this.#stream(name)
    if (stream.isTombstoned) return { outcome: 'stream deleted' }
    const last = stream.records.length - 1
    const isDeleted = stream.hiddenBefore === Infinity
    // A soft-deleted stream may be started again, and its revisions continue.
    const isBegunAgain = isDeleted && expected === -1
    if (!isBegunAgain && expected > last) return wrong(last)
    if (!isBegunAgain && expected < last) return repeatedOrWrong(stream.records, expected, proposed)
    const first = stream.records.length
    for (const event of proposed) this.#write(name, stream.records, event)
    if (isDeleted) this.setMetadata(name, { $tb: first })
    this.tell()
    return written(stream.records.at(-1))
  }

  now(): number {
    return Date.now() + this.clockAheadMs
  }

  /** What readers see of a stream. The metadata of a tombstoned one are gone with it. */
  read(name: string): StreamRead {
    const stream = this.#streams.get(name)
    if (stream?.isTombstoned || this.#streams.get(name.replace(/^\$\$/, ''))?.isTombstoned) return 'deleted'
    if (!stream || stream.records.length === 0 || stream.hiddenBefore === Infinity) return 'not found'
    const from = Math.max(stream.hiddenBefore, stream.records.length - stream.maxCount)
    const oldest = this.now() - stream.maxAgeMs
    return stream.records.slice(from).filter(({ created }) => created > oldest)
  }

  /** All of its records, whatever readers see. */
  stream(name: string): readonly LogRecord[] | undefined {
    return this.#streams.get(name)?.records
  }

  /** What an administrator can do. The events stay in the log until a scavenge. */
  setMetadata(name: string, metadata: StreamMetadata): void {
    const stream = this.#stream(name)
    const { $tb = 0, $maxCount = Infinity, $maxAge = Infinity } = metadata
    stream.hiddenBefore = $tb === deletedBefore ? Infinity : Number($tb)
    stream.maxCount = $maxCount
    stream.maxAgeMs = 1_000 * $maxAge
    const json = JSON.stringify(metadata).replace(`"${deletedBefore}"`, deletedBefore)
    this.#write(`$$${name}`, this.#stream(`$$${name}`).records, {
      id: randomUUID(),
      type: '$metadata',
      contentType: 'application/json',
      data: Buffer.from(json),
      metadata: noBytes,
    })
    this.tell()
  }

  /** Soft delete: the stream looks as if it had never existed, and may be started again. */
  delete(name: string): void {
    this.setMetadata(name, { $tb: deletedBefore })
  }

  /** Tombstone: nothing can be read from it or appended to it any more. */
  tombstone(name: string): void {
    this.#stream(name).isTombstoned = true
    const contentType = 'application/octet-stream'
    const event = { id: randomUUID(), type: '$streamDeleted', contentType, data: Buffer.from('{}') }
    this.#push({ ...event, metadata: noBytes, stream: name, revision: greatestRevision - 1 })
    this.tell()
  }

  /** Records after a position, oldest first. */
  after(position: number, count: number): readonly LogRecord[] {
    const first = this.#indexAfter(position)
    return this.records.slice(first, first + count)
  }

  /** True when more than so many records behind a position match. */
  hasMoreAfter(position: number, most: number, matches: (record: LogRecord) => boolean): boolean {
    let found = 0
    for (let index = this.#indexAfter(position); index < this.records.length; index++)
      if (matches(this.records[index]!) && ++found > most) return true
    return false
  }

  /** The first records that match, from this position on, or backwards from before it. */
  find(from: number, { count, backwards, matches }: Search): readonly LogRecord[] {
    const found: LogRecord[] = []
    const step = backwards ? -1 : 1
    for (let index = this.#indexAfter(from - 1) - (backwards ? 1 : 0); found.length < count; index += step) {
      const record = this.records[index]
      if (!record) break
      if (matches(record)) found.push(record)
    }
    return found
  }

  /** A position within the log at which no record begins cannot be read from. */
  mayBeReadFrom(position: number): boolean {
    return position >= this.#end || this.records[this.#indexAfter(position - 1)]?.position === position
  }

  #indexAfter(position: number): number {
    let [low, high] = [0, this.records.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.records[middle]?.position ?? 0) <= position) low = middle + 1
      else high = middle
    }
    return low
  }

  /** As when an older backup is restored: what stands behind this position has never been. */
  goBackTo(position: number): void {
    const gone = this.records.filter((record) => record.position > position)
    this.records.splice(this.records.length - gone.length)
    for (const { stream } of gone) this.#streams.get(stream)?.records.pop()
    this.#end = gone[0]?.position ?? this.#end
  }

  /** The next record is written at this position. */
  skipTo(position: number): void {
    this.#end = position
  }

  /** Calls back after every append, until the returned function is called. */
  watch(watcher: () => void): () => void {
    this.#watchers.add(watcher)
    return () => this.#watchers.delete(watcher)
  }

  #stream(name: string): Stream {
    let stream = this.#streams.get(name)
    if (!stream) {
      stream = {
        records: [],
        hiddenBefore: 0,
        maxCount: Infinity,
        maxAgeMs: Infinity,
        isTombstoned: false,
      }
      this.#streams.set(name, stream)
    }
    return stream
  }

  #write(stream: string, stored: LogRecord[], event: ProposedRecord): void {
    stored.push(this.#push({ ...event, stream, revision: stored.length }))
  }

  #push(event: Omit<LogRecord, 'position' | 'created'>): LogRecord {
    const record = { ...event, position: this.#end, created: this.now() }
    const { stream, type, data, metadata } = event
    this.#end += recordOverhead + stream.length + type.length + data.length + metadata.length
    this.records.push(record)
    return record
  }

  /** Subscriptions look again. */
  tell(): void {
    for (const watcher of this.#watchers) watcher()
  }
}

/**
 * The same event ids in the same place are the same append; a part of them is not. A server that has
 * restarted since does not know their position any more.
 */
function repeatedOrWrong(
  stored: readonly LogRecord[],
  expected: number,
  proposed: readonly ProposedRecord[],
): AppendOutcome {
  const found = stored.slice(expected + 1, expected + 1 + proposed.length)
  const same = proposed.length > 0 && proposed.every(({ id }, index) => found[index]?.id === id)
  const last = found.at(-1)
  return same && last
    ? { outcome: 'written', revision: last.revision, position: -1 }
    : wrong(stored.length - 1)
}

function wrong(current: number): AppendOutcome {
  return { outcome: 'wrong expected version', current }
}

function written(last: LogRecord | undefined): AppendOutcome {
  return { outcome: 'written', revision: last?.revision ?? -1, position: last?.position ?? -1 }
}

function sizeOf({ type, data, metadata }: ProposedRecord): number {
  return 2 * type.length + data.length + metadata.length
}

const tooLarge: AppendOutcome = {
  outcome: 'failed',
  type: 'MaximumAppendSizeExceeded',
  message: `Maximum Append Size of ${appendBytesMax} Exceeded.`,
}

interface Search {
  readonly count: number
  readonly backwards: boolean
  readonly matches: (record: LogRecord) => boolean
}

/** What the server refuses before it looks at the stream. */
export function problemOf({ stream, expected, deadline, events }: ProposedAppend, now: number) {
  const bad = (message: string): AppendOutcome => ({ outcome: 'failed', type: 'BadRequest', message })
  if (stream === '') return bad('Required field StreamIdentifier not set.')
  if (expected === undefined) return bad('InvalidArgument: ExpectedStreamPosition')
  if (events.some(({ id }) => !/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(id))) return bad('Uuid')
  if (events.some(({ type, contentType }) => type === '' || contentType === '')) return bad('KeyNotFound')
  if (deadline <= now) return { outcome: 'failed', type: 'Timeout', message: 'Timeout' } as const
  return undefined
}

export interface ProposedAppend {
  readonly stream: string
  /** -1 for no stream; undefined for what this service never asks for. */
  readonly expected: number | undefined
  /** In milliseconds since 1970, by the server's clock; Infinity when none is given. */
  readonly deadline: number
  readonly events: readonly ProposedRecord[]
}
