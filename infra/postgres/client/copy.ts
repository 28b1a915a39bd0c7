import type pg from 'pg'
import { quoted, type Table } from '../read-models/tables.ts'

/** Adds rows of `CopyRows`. Even as text, COPY costs PostgreSQL a third of INSERT from JSON. */
export function copyInto(connection: pg.ClientBase, table: Table, rows: readonly Buffer[]): Promise<void> {
  const text = `copy ${table.name} (${quoted(Object.keys(table.columns))}) from stdin (format binary)`
  return new Promise((resolve, reject) => {
    const settle = (error: Error | null) => (error ? reject(error) : resolve())
    connection.query(new CopyIn(text, rows, settle))
  })
}

/** The part of the driver's connection that COPY needs; its types do not declare it. */
interface CopyConnection {
  query(text: string): void
  sendCopyFromChunk(chunk: Buffer): void
  endCopyFrom(): void
}

/** A query object of the driver's own protocol: it calls these methods as the server's messages arrive. */
export abstract class CopyQuery implements pg.Submittable {
  /** The driver wraps it to notice when its time-out is over. */
  callback: (error: Error | null) => void
  readonly #text: string

  constructor(text: string, callback: (error: Error | null) => void) {
    this.#text = text
    this.callback = callback
  }

  submit(connection: pg.Connection): void {
    ;(connection as unknown as CopyConnection).query(this.#text)
  }

  handleCommandComplete(): void {
    // The number of rows is known already.
  }

  handleReadyForQuery(): void {
    this.callback(null)
  }

  handleError(error: Error): void {
    this.callback(error)
  }
}

class CopyIn extends CopyQuery {
  readonly #rows: readonly Buffer[]

  constructor(text: string, rows: readonly Buffer[], callback: (error: Error | null) => void) {
    super(text, callback)
    this.#rows = rows
  }

  handleCopyInResponse(connection: CopyConnection): void {
    for (const chunk of this.#rows) connection.sendCopyFromChunk(chunk)
    connection.endCopyFrom()
  }
}
