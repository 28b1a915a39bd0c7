import { setImmediate as nextTurn } from 'node:timers/promises'
import type pg from 'pg'
import type { EventMetadata, StoredEvent } from '../../../packages/kernel/ports.ts'
import { CopyQuery } from '../../postgres/client/copy.ts'

/** Read at once and kept as raw bytes, which the garbage collector never moves. */
const eventsPerCopy = 2_000
/** Decoded at once: decoded events are moved by each collection. */
const eventsPerPiece = 250

/**
 * Reads the log after a position by COPY in its binary format, for long reads: the driver spends as much on
 * the columns of a row as on their contents. The next piece is read while the caller works on this one.
 */
export async function* copyLog(
  pool: pg.Pool,
  after: number,
  through = Number.MAX_SAFE_INTEGER,
): AsyncGenerator<readonly StoredEvent[], void> {
  let ahead = copyRows(pool, after, through)
  for (;;) {
    const rows = await ahead
    if (rows.count === 0) return
    ahead = copyRows(pool, rows.lastPosition, through)
    // A read that is no longer wanted fails where it is awaited, or not at all.
    ahead.catch(() => undefined)
    while (rows.count > 0) {
      yield rows.take(eventsPerPiece)
      // Several pieces are ready: let other work of the event loop run between them.
      await nextTurn()
    }
  }
}

async function copyRows(pool: pg.Pool, after: number, through: number): Promise<Rows> {
  const rows = new Rows()
  if (after >= through) return rows
  const client = await pool.connect()
  try {
    await new Promise<void>((resolve, reject) => {
      const settle = (error: Error | null) => (error ? reject(error) : resolve())
      client.query(new CopyOut(statement(after, through), rows, settle))
    })
    client.release()
    return rows
  } catch (error) {
    client.release(true)
    throw error
  }
}

/** COPY takes no parameters, so they are checked to be numbers. */
function statement(after: number, through: number): string {
  for (const place of [after, through])
    if (!Number.isSafeInteger(place)) throw new RangeError(`${place} is no place in the log`)
  return `copy (
    select stream, revision, position, id::text, type, data, metadata from events
    where position > ${after} and position <= ${through} order by position limit ${eventsPerCopy}
  ) to stdout (format binary)`
}

const headerBytes = 19
const fieldCountBytes = 2
const lengthBytes = 4
const endOfRows = -1

class CopyOut extends CopyQuery {
  readonly #rows: Rows
  #isBegun = false

  constructor(text: string, rows: Rows, callback: (error: Error | null) => void) {
    super(text, callback)
    this.#rows = rows
  }

  handleCopyOutResponse(): void {
    // The columns are known, so their header is not needed.
  }

  /** Copied at once: the driver reuses this memory. */
  handleCopyData({ chunk }: { readonly chunk: Buffer }): void {
    const start = this.#isBegun ? 0 : headerBytes
    this.#isBegun = true
    if (chunk.length < start + fieldCountBytes || chunk.readInt16BE(start) === endOfRows) return
    this.#rows.add(chunk, start + fieldCountBytes)
  }
}

/** What this many events usually need, so that the buffer rarely has to grow. */
const bytesAtFirst = 2 * 1024 * 1024

/** Events as the columns arrived, one after the other. */
class Rows {
  #bytes: Buffer = Buffer.alloc(0)
  #length = 0
  #last = 0
  /** Where the next event begins. */
  #next = 0
  count = 0

  add(chunk: Buffer, start: number): void {
    this.#reserve(chunk.length - start)
    this.#last = this.#length
    this.#length += chunk.copy(this.#bytes, this.#length, start)
    this.count++
  }

  get lastPosition(): number {
    return this.#eventAt(this.#last).event.position
  }

  take(most: number): readonly StoredEvent[] {
    const events: StoredEvent[] = []
    for (; this.count > 0 && events.length < most; this.count--) {
      const { event, end } = this.#eventAt(this.#next)
      events.push(event)
      this.#next = end
    }
    return events
  }

  #reserve(bytes: number): void {
    if (this.#length + bytes <= this.#bytes.length) return
    const wider = Buffer.allocUnsafe(Math.max(bytesAtFirst, 2 * (this.#length + bytes)))
    this.#bytes.copy(wider, 0, 0, this.#length)
    this.#bytes = wider
  }

  #eventAt(start: number): { readonly event: StoredEvent; readonly end: number } {
    const bytes = this.#bytes
    let end = start
    const next = () => {
      const from = end + lengthBytes
      end = from + bytes.readInt32BE(end)
      return from
    }
    const text = () => bytes.toString('utf8', next(), end)
    const json = (): unknown => JSON.parse(text())
    const stream = text()
    const revision = bytes.readInt32BE(next())
    const position = Number(bytes.readBigInt64BE(next()))
    const id = text()
    const type = text()
    // The store wrote them with these very types.
    const data = json() as object
    const metadata = json() as EventMetadata
    return { event: { stream, revision, position, id, type, data, metadata }, end }
  }
}
