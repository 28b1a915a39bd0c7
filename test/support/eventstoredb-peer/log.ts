import { randomUUID } from 'node:crypto'
import {
  appendBytesMax,
  repeatedOrWrong,
  sizeOf,
  tooLarge,
  written,
  wrong,
  type AppendOutcome,
  type LogRecord,
  type ProposedRecord,
} from './append-rules.ts'

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
  /** A scavenge has removed everything before this revision. */
  goneBefore: number
}

/** The log of one node. It decides on appends as IndexWriter.CheckCommit of EventStoreDB 23.10 does. */
export class Log {
  readonly records: LogRecord[] = []
  /** Records that filtered reads and subscriptions have looked at. */
  searched = 0
  /** A read that has looked at so many records in vain says nothing more: it would take too long. */
  stallsAfter = Infinity
  /** How far this machine's clock is ahead of that of its clients. */
  clockAheadMs = 0
  readonly #streams = new Map<string, Stream>()
  readonly #watchers = new Set<() => void>()
  /** Positions of what was scavenged: a read may still begin there. */
  readonly #gone = new Set<number>()
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
    const repeated = expected < last ? repeatedOrWrong(stream, expected, proposed) : undefined
    if (repeated && (!isBegunAgain || repeated.outcome === 'written')) return repeated
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
    const there = stream.records.slice(stream.goneBefore)
    return isWhole(stream) ? there : there.filter((record) => this.#isVisible(stream, record))
  }

  #isVisible(stream: Stream, { revision, created }: LogRecord): boolean {
    const from = Math.max(stream.hiddenBefore, stream.records.length - stream.maxCount)
    return revision >= from && created > this.now() - stream.maxAgeMs
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

  /**
   * Removes from the log what readers of streams cannot see any more. The last event of a stream stays, but
   * nothing of a tombstoned one except its tombstone; of metadata only the newest stay.
   */
  scavenge(): void {
    const kept = this.records.filter((record) => !this.#isRemoved(record))
    for (const { stream, revision, position } of this.records.filter((record) => this.#isRemoved(record))) {
      this.#gone.add(position)
      this.#stream(stream).goneBefore = revision + 1
    }
    this.records.splice(0, Infinity, ...kept)
  }

  #isRemoved(record: LogRecord): boolean {
    const { stream: name, revision } = record
    if (name.startsWith('$') && !name.startsWith('$$')) return false
    const stream = this.#stream(name)
    const isOfTombstoned = stream.isTombstoned || this.#streams.get(name.replace(/^\$\$/, ''))?.isTombstoned
    if (isOfTombstoned) return revision < greatestRevision - 1
    if (revision === stream.records.length - 1) return false
    return name.startsWith('$$') || !this.#isVisible(stream, record)
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

  /** One step of a filtered read: from this position on, or backwards from before it. */
  search(from: number, { count, window, backwards, matches }: Search): Step {
    const found: LogRecord[] = []
    let considered = 0
    const next = () => this.#indexAfter(from - 1) + (backwards ? -1 - considered : considered)
    for (; considered < window && found.length < count; considered++) {
      const record = this.records[next()]
      if (!record) return { found, considered, next: undefined }
      this.searched++
      if (matches(record)) found.push(record)
    }
    const last = this.records[next() + (backwards ? 1 : 0)]
    return { found, considered, next: last?.position }
  }

  /** A position within the log at which no record begins cannot be read from. */
  mayBeReadFrom(position: number): boolean {
    if (position >= this.#end || this.#gone.has(position)) return true
    return this.records[this.#indexAfter(position - 1)]?.position === position
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
        goneBefore: 0,
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

/** Saves a look at each of very many events for each piece that is read of them. */
function isWhole({ hiddenBefore, maxCount, maxAgeMs }: Stream): boolean {
  return hiddenBefore === 0 && maxCount === Infinity && maxAgeMs === Infinity
}

interface Search {
  readonly count: number
  /** So many records are looked at. */
  readonly window: number
  readonly backwards: boolean
  readonly matches: (record: LogRecord) => boolean
}

interface Step {
  readonly found: readonly LogRecord[]
  readonly considered: number
  /** Where the next one begins; undefined at the end of the log. */
  readonly next: number | undefined
}
