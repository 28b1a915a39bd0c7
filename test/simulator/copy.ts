import type { ColumnType } from '../../packages/kernel/projection.ts'
import { tables, type Row } from './database.ts'

/** A query by COPY as the driver sees it (infra/postgres/copy.ts). */
export interface CopyQuery {
  submit(connection: object): void
  handleCopyInResponse(connection: object): void
  handleReadyForQuery(): void
  handleError(error: Error): void
}

/** What a query by COPY would send to the server. */
export function copiedRows(query: CopyQuery): { readonly name: string; readonly rows: readonly Row[] } {
  let statement = ''
  let data = ''
  const connection = {
    query: (text: string) => void (statement = text),
    sendCopyFromChunk: (chunk: Buffer) => void (data += chunk.toString()),
    endCopyFrom: () => undefined,
  }
  query.submit(connection)
  query.handleCopyInResponse(connection)
  const [, name = ''] = /^copy (\S+)/.exec(statement) ?? []
  const columns = Object.entries(tables.get(name)?.columns ?? {})
  const lines = data.split('\n').slice(0, -1)
  return { name, rows: lines.map((line) => rowOf(columns, line.split('\t'))) }
}

function rowOf(columns: readonly [string, ColumnType][], fields: readonly string[]): Row {
  return Object.fromEntries(columns.map(([column, type], index) => [column, valueOf(type, fields[index]!)]))
}

const escapes: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', '\\': '\\' }

function valueOf(type: ColumnType, field: string): unknown {
  if (field === '\\N') return null
  const text = field.replace(/\\(.)/g, (_, character: string) => escapes[character] ?? character)
  if (type === 'json') return JSON.parse(text)
  if (type === 'boolean') return text === 'true'
  return type === 'text' || type === 'timestamptz' ? text : Number(text)
}
