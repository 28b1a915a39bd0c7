/** One event as the server keeps it: the bytes are the client's. */
export interface LogRecord {
  readonly stream: string
  readonly revision: number
  /** Commit and prepare position: they are the same for every event that was appended through gRPC. */
  readonly position: number
  readonly id: string
  readonly type: string
  readonly contentType: string
  readonly data: Uint8Array
  readonly metadata: Uint8Array
}

export type ProposedRecord = Omit<LogRecord, 'stream' | 'revision' | 'position'>

export type AppendOutcome =
  | { readonly outcome: 'written'; readonly revision: number; readonly position: number }
  /** `current` is -1 when there is no such stream. */
  | { readonly outcome: 'wrong expected version'; readonly current: number }

/** What a record takes on disk beside its bytes, more or less: it makes positions grow with gaps. */
const recordOverhead = 97

/** The log of one node. It decides on appends as IndexWriter.CheckCommit of EventStoreDB 24.10 does. */
export class Log {
  readonly records: LogRecord[] = []
  readonly #streams = new Map<string, LogRecord[]>()
  readonly #watchers = new Set<() => void>()
  #end = 0

  append(stream: string, expected: number, proposed: readonly ProposedRecord[]): AppendOutcome {
    const stored = this.#streams.get(stream) ?? []
    const current = stored.length - 1
    if (expected > current) return { outcome: 'wrong expected version', current }
    if (expected < current) return repeatedOrWrong(stored, expected, proposed)
    for (const event of proposed) this.#write(stream, stored, event)
    this.#streams.set(stream, stored)
    this.#tell()
    return written(stored.at(-1))
  }

  stream(name: string): readonly LogRecord[] | undefined {
    return this.#streams.get(name)
  }

  /** Records behind a position, oldest first. */
  after(position: number, count: number): readonly LogRecord[] {
    let [low, high] = [0, this.records.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.records[middle]?.position ?? 0) <= position) low = middle + 1
      else high = middle
    }
    return this.records.slice(low, low + count)
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

  #write(stream: string, stored: LogRecord[], event: ProposedRecord): void {
    const record = { ...event, stream, revision: stored.length, position: this.#end }
    const { type, data, metadata } = event
    this.#end += recordOverhead + stream.length + type.length + data.length + metadata.length
    stored.push(record)
    this.records.push(record)
  }

  #tell(): void {
    for (const watcher of this.#watchers) watcher()
  }
}

/** The same event ids at the same place are the same append; a part of them is not. */
function repeatedOrWrong(
  stored: readonly LogRecord[],
  expected: number,
  proposed: readonly ProposedRecord[],
): AppendOutcome {
  const found = stored.slice(expected + 1, expected + 1 + proposed.length)
  const same = proposed.length > 0 && proposed.every(({ id }, index) => found[index]?.id === id)
  return same ? written(found.at(-1)) : { outcome: 'wrong expected version', current: stored.length - 1 }
}

function written(last: LogRecord | undefined): AppendOutcome {
  return { outcome: 'written', revision: last?.revision ?? -1, position: last?.position ?? -1 }
}
