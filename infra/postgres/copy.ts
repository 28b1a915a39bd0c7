import type pg from 'pg'
import { quoted, type Table } from './tables.ts'

/** Adds rows to a table by COPY, which costs PostgreSQL a third of what INSERT from JSON does. */
export function copyInto(connection: pg.ClientBase, table: Table, lines: readonly Buffer[]): Promise<void> {
  const text = `copy ${table.name} (${quoted(Object.keys(table.columns))}) from stdin`
  return new Promise((resolve, reject) => {
    const settle = (error: Error | null) => (error ? reject(error) : resolve())
    connection.query(new CopyIn(text, lines, settle))
  })
}

/** The part of the driver's connection that COPY needs; its types do not show it. */
interface CopyConnection {
  query(text: string): void
  sendCopyFromChunk(chunk: Buffer): void
  endCopyFrom(): void
}

/** A query of the driver's own kind: it calls these methods as the server's messages come. */
class CopyIn implements pg.Submittable {
  /** The driver wraps it, to know when its time-out is over. */
  callback: (error: Error | null) => void
  readonly #text: string
  readonly #lines: readonly Buffer[]
  #connection: CopyConnection | undefined

  constructor(text: string, lines: readonly Buffer[], callback: (error: Error | null) => void) {
    this.#text = text
    this.#lines = lines
    this.callback = callback
  }

  submit(connection: pg.Connection): void {
    this.#connection = connection as unknown as CopyConnection
    this.#connection.query(this.#text)
  }

  handleCopyInResponse(): void {
    for (const chunk of this.#lines) this.#connection?.sendCopyFromChunk(chunk)
    this.#connection?.endCopyFrom()
  }

  handleCommandComplete(): void {
    // How many rows were copied is known.
  }

  handleReadyForQuery(): void {
    this.callback(null)
  }

  handleError(error: Error): void {
    this.callback(error)
  }
}
