import type { ColumnType } from '../../../packages/kernel/projection.ts'
import { tables, type Row } from '../engines/database.ts'

/** A query by COPY as the driver sees it (infra/postgres/client/copy.ts). */
export interface CopyQuery {
  submit(connection: object): void
  handleCopyInResponse(connection: object): void
  handleReadyForQuery(): void
  handleError(error: Error): void
}

/** What a query by COPY would send to the server. */
export function copiedRows(query: CopyQuery): { readonly name: string; readonly rows: readonly Row[] } {
  let statement = ''
  const chunks: Buffer[] = []
  const connection = {
    query: (text: string) => void (statement = text),
    sendCopyFromChunk: (chunk: Buffer) => void chunks.push(chunk),
    endCopyFrom: () => undefined,
  }
  query.submit(connection)
  query.handleCopyInResponse(connection)
  const [, name = ''] = /^copy (\S+) .* from stdin \(format binary\)$/.exec(statement) ?? []
  return { name, rows: rowsOf(Object.entries(tables.get(name)?.columns ?? {}), Buffer.concat(chunks)) }
}

const headerBytes = 19
const endOfRows = -1

/** The format as PostgreSQL's documentation of COPY has it. */
function rowsOf(columns: readonly [string, ColumnType][], bytes: Buffer): readonly Row[] {
  const rows: Row[] = []
  let at = headerBytes
  while (bytes.readInt16BE(at) !== endOfRows) {
    const count = bytes.readInt16BE(at)
    at += 2
    if (count !== columns.length) throw new Error(`a row has ${count} columns instead of ${columns.length}`)
    const row: Record<string, unknown> = {}
    for (const [column, type] of columns) {
      const length = bytes.readInt32BE(at)
      at += 4
      row[column] = length < 0 ? null : valueOf(type, bytes.subarray(at, at + length))
      at += Math.max(0, length)
    }
    rows.push(row)
  }
  return rows
}

const epochMs = Date.UTC(2000)

function valueOf(type: ColumnType, bytes: Buffer): unknown {
  switch (type) {
    case 'text':
      return bytes.toString()
    case 'json':
      return JSON.parse(bytes.toString())
    case 'boolean':
      return bytes[0] === 1
    case 'integer':
      return bytes.readInt32BE()
    case 'bigint':
      return Number(bytes.readBigInt64BE())
    case 'numeric':
      return numericOf(bytes)
    case 'timestamptz':
      return new Date(epochMs + Number(bytes.readBigInt64BE() / 1_000n)).toISOString()
  }
}

/** How many digits to the base of 10,000, which power the first has, the sign, how many decimals; digits. */
function numericOf(bytes: Buffer): number {
  const [count, power, sign] = [bytes.readInt16BE(0), bytes.readInt16BE(2), bytes.readUInt16BE(4)]
  let value = 0
  for (let digit = 0; digit <= power; digit++) {
    value = value * 10_000 + (digit < count ? bytes.readInt16BE(8 + 2 * digit) : 0)
  }
  return sign === 0 ? value : -value
}
