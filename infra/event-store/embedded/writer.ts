import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import {
  OutcomeUnknownError,
  StoreOverloadedError,
  VersionConflictError,
  type Appended,
  type NewEvent,
  type StoredEvent,
} from '../../../packages/kernel/ports.ts'
import { Batch, columnsOf, type Append } from './batch.ts'
import { RevisionCache } from './revision-cache.ts'
import type { Reader } from './reader.ts'
import type { SeenLog } from '../seen-log.ts'
import { openWriteConnection } from './session.ts'

export interface WriterOptions {
  readonly url: string
  readonly waitingMax: number
  /** Distinguishes a repeated append from a conflict. */
  readonly reader: Pick<Reader, 'readStream'>
  /** What this process knows of the log, which another server may not have. */
  readonly seen: SeenLog
  /** The connection is lost, and all that is known of the server, which may be another one next time. */
  readonly onLost: () => void
  /** Called for each batch with the position before it and what was written. */
  readonly onWritten: (base: number, written: readonly Placed[]) => void
}

/** An append that was written: its events come after `after`, the last one at `through`. */
export interface Placed {
  readonly append: Append
  readonly after: number
  readonly through: number
}

interface Written {
  /** Position of the last event before the batch. */
  readonly base: number
  /** Numbers, from 1, of the appends that were left out. */
  readonly conflicts: readonly number[]
}

const batchesInFlightMax = 2
const appendsDivided = 16
const reconnectDelayMs = 100
/** How long appends wait for the server to come back, for example from a restart. */
const outageMs = 5_000

/**
 * Writes all appends of this process over one connection; those that arrive while batches are in flight form
 * the next one.
 */
export class Writer {
  readonly #options: WriterOptions
  #known = new RevisionCache()
  #client: pg.Client | undefined
  #waiting: Batch[] = []
  #appendsWaiting = 0
  #inFlight = 0
  #flushPlanned = false
  #closed = false
  #idle: (() => void) | undefined

  constructor(options: WriterOptions) {
    this.#options = options
  }

  /** Throws when there is no server. */
  async open(): Promise<void> {
    this.#use(await openWriteConnection(this.#options.url, this.#options.seen))
  }

  async append(stream: string, expected: number, events: readonly NewEvent[]): Promise<Appended> {
    const columns = columnsOf(stream, events)
    if (this.#closed || this.#appendsWaiting >= this.#options.waitingMax)
      throw new StoreOverloadedError(stream)
    return new Promise((resolve, reject) => {
      this.#enqueue({ stream, expected, events, columns, resolve, reject })
      this.#planFlush()
    })
  }

  /** Waits until every accepted append is written. */
  async close(): Promise<void> {
    this.#closed = true
    const busy = this.#inFlight > 0 || this.#appendsWaiting > 0
    if (busy) await new Promise<void>((resolve) => (this.#idle = resolve))
    const client = this.#client
    this.#client = undefined
    await client?.end()
  }

  #enqueue(append: Append): void {
    this.#appendsWaiting += 1
    if (this.#waiting.at(-1)?.add(append)) return
    const batch = new Batch()
    batch.add(append)
    this.#waiting.push(batch)
  }

  /** Appends triggered by the same answer arrive within one turn of the event loop: they are batched. */
  #planFlush(): void {
    if (this.#flushPlanned) return
    this.#flushPlanned = true
    setImmediate(() => {
      this.#flushPlanned = false
      this.#flush()
    })
  }

  #flush(): void {
    this.#divide()
    while (this.#client && this.#inFlight < batchesInFlightMax) {
      const batch = this.#waiting.shift()
      if (!batch) break
      this.#appendsWaiting -= batch.appends.length
      void this.#send(this.#client, batch)
    }
    if (this.#inFlight === 0 && this.#appendsWaiting === 0) this.#idle?.()
  }

  /**
   * Callers that waited for one batch continue together and would form one batch again; as two, one is
   * written while this process prepares the other.
   */
  #divide(): void {
    const [only, ...others] = this.#waiting
    if (this.#inFlight > 0 || !only || others.length > 0 || only.appends.length < appendsDivided) return
    this.#waiting = [...halves(only)]
  }

  async #send(client: pg.Client, batch: Batch): Promise<void> {
    this.#inFlight += 1
    try {
      const { rows } = await client.query<Written>({
        name: 'append-events',
        text: 'select base, conflicts from append_events($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)',
        values: [...batch.parameters(this.#known)],
      })
      this.#settle(batch, rows[0]!)
    } catch (error) {
      this.#failed(client, batch, error)
    }
    this.#inFlight -= 1
    this.#planFlush()
  }

  #settle(batch: Batch, { base, conflicts }: Written): void {
    const written: Placed[] = []
    let through = base
    batch.appends.forEach((append, index) => {
      const { stream, expected, events } = append
      const after = through
      through += events.length
      if (conflicts.includes(index + 1)) {
        this.#known.share(stream)
        void this.#conflicted(append)
      } else {
        const revision = expected + events.length
        this.#known.note(stream, revision)
        this.#options.seen.note({ stream, revision, position: through, id: events.at(-1)!.id })
        written.push({ append, after, through })
        append.resolve({ revision, position: through })
      }
    })
    this.#options.onWritten(base, written)
  }

  /** The stream is elsewhere: another process wrote to it, or this very append was written before. */
  async #conflicted({ stream, expected, events, resolve, reject }: Append): Promise<void> {
    try {
      const stored = await this.#options.reader.readStream(stream, expected + 1, events.length)
      const last = stored.at(-1)
      const isSame = ({ id }: StoredEvent, index: number) => id === events[index]?.id.toLowerCase()
      const repeated = stored.length === events.length && stored.every(isSame)
      if (repeated && last) resolve({ revision: last.revision, position: last.position })
      else reject(new VersionConflictError(stream, expected))
    } catch (error) {
      reject(new OutcomeUnknownError(stream, error))
    }
  }

  #failed(client: pg.Client, batch: Batch, error: unknown): void {
    if (!wasRefused(error)) {
      this.#lost(client)
      for (const append of batch.appends) append.reject(new OutcomeUnknownError(append.stream, error))
    } else if (isConflict(error) && !batch.isContested) {
      // A stream that was not looked up has lost its race: all are looked up, and the others written.
      batch.isContested = true
      this.#waiting.unshift(batch)
      this.#appendsWaiting += batch.appends.length
    } else if (batch.appends.length > 1) {
      // The data of one of them failed the statement: halve the batch until that one is alone.
      this.#waiting.unshift(...halves(batch))
      this.#appendsWaiting += batch.appends.length
    } else {
      for (const append of batch.appends) append.reject(error)
    }
  }

  #use(client: pg.Client): void {
    this.#client = client
    client.on('error', () => this.#lost(client))
    client.on('end', () => this.#lost(client))
  }

  #lost(client: pg.Client): void {
    if (this.#client !== client) return
    this.#client = undefined
    // The next server may be a standby that lacks some of it.
    this.#known = new RevisionCache()
    this.#options.onLost()
    void client.end()
    void this.#reconnect()
  }

  async #reconnect(): Promise<void> {
    const since = Date.now()
    while (!this.#closed || this.#appendsWaiting > 0) {
      try {
        this.#use(await openWriteConnection(this.#options.url, this.#options.seen))
        return this.#planFlush()
      } catch (error) {
        if (Date.now() - since > outageMs) this.#refuseWaiting(error)
        await pause(reconnectDelayMs)
      }
    }
  }

  #refuseWaiting(cause: unknown): void {
    const waiting = this.#waiting.flatMap(({ appends }) => appends)
    this.#waiting = []
    this.#appendsWaiting = 0
    for (const { stream, reject } of waiting) reject(new StoreOverloadedError(stream, cause))
    this.#planFlush()
  }
}

/**
 * The server answered with an error and goes on, so nothing was written. After any other error the outcome is
 * unknown.
 */
function wasRefused(error: unknown): boolean {
  return error instanceof pg.DatabaseError && !/^(57P|08|XX|40003)/.test(error.code ?? '')
}

function isConflict(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.constraint === 'events_stream_revision'
}

function halves({ appends }: Batch): readonly Batch[] {
  const middle = Math.ceil(appends.length / 2)
  return [appends.slice(0, middle), appends.slice(middle)].map((half) => {
    const batch = new Batch()
    for (const append of half) batch.add(append)
    return batch
  })
}
