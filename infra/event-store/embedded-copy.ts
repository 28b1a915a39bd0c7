import type pg from 'pg'
import type { EventMetadata, StoredEvent } from '../../packages/kernel/ports.ts'

/**
 * The next events of the log behind a position, by COPY in its binary format: for long reads, because the
 * driver spends as much on the columns of a row as on what stands in them.
 */
export async function copyEvents(
  pool: pg.Pool,
  after: number,
  limit: number,
): Promise<readonly StoredEvent[]> {
  const client = await pool.connect()
  try {
    const events = await new Promise<readonly StoredEvent[]>((resolve, reject) => {
      const settle = (error: Error | null, found: readonly StoredEvent[] = []) => {
        return error ? reject(error) : resolve(found)
      }
      client.query(new CopyOut(statement(after, limit), settle))
    })
    client.release()
    return events
  } catch (error) {
    client.release(true)
    throw error
  }
}

/** COPY takes no parameters, so both are checked to be numbers. */
function statement(after: number, limit: number): string {
  return `copy (
    select stream, revision, position, id::text, type, data, metadata from events
    where position > ${wholeNumber(after)} order by position limit ${wholeNumber(limit)}
  ) to stdout (format binary)`
}

function wholeNumber(value: number): number {
  if (Number.isSafeInteger(value)) return value
  throw new RangeError(`${value} is no place in the log`)
}

type Settle = (error: Error | null, events?: readonly StoredEvent[]) => void

/** A query of the driver's own kind: it calls these methods as the server's messages come. */
class CopyOut implements pg.Submittable {
  /** The driver wraps it, to know when its time-out is over. */
  callback: Settle
  readonly #text: string
  readonly #events: StoredEvent[] = []
  #isBegun = false
  #failure: Error | null = null

  constructor(text: string, callback: Settle) {
    this.#text = text
    this.callback = callback
  }

  submit(connection: pg.Connection): void {
    const { query } = connection as unknown as { query(this: pg.Connection, text: string): void }
    query.call(connection, this.#text)
  }

  handleCopyOutResponse(): void {
    // Which columns come is known.
  }

  /** Decodes at once: the driver uses the memory again. */
  handleCopyData({ chunk }: { readonly chunk: Buffer }): void {
    const start = this.#isBegun ? 0 : headerBytes
    this.#isBegun = true
    if (chunk.length < start + fieldCountBytes || chunk.readInt16BE(start) === endOfRows) return
    try {
      this.#events.push(eventIn(chunk, start + fieldCountBytes))
    } catch (error) {
      this.#failure ??= error as Error
    }
  }

  handleCommandComplete(): void {
    // How many rows have come is known.
  }

  handleReadyForQuery(): void {
    this.callback(this.#failure, this.#events)
  }

  handleError(error: Error): void {
    this.callback(error)
  }
}

const headerBytes = 19
const fieldCountBytes = 2
const lengthBytes = 4
const endOfRows = -1
/** A value of jsonb begins with the version of its format. */
const jsonVersionBytes = 1

function eventIn(row: Buffer, start: number): StoredEvent {
  let end = start
  const next = () => {
    const from = end + lengthBytes
    end = from + row.readInt32BE(end)
    return from
  }
  const text = () => row.toString('utf8', next(), end)
  const json = (): unknown => JSON.parse(row.toString('utf8', next() + jsonVersionBytes, end))
  const stream = text()
  const revision = row.readInt32BE(next())
  const position = Number(row.readBigInt64BE(next()))
  const id = text()
  const type = text()
  // The store wrote them as what they are.
  const data = json() as object
  const metadata = json() as EventMetadata
  return { stream, revision, position, id, type, data, metadata }
}
