import type { Change, Row, Value } from '../../packages/kernel/projection.ts'
import { addToRows, patchRows, removeRows, upsertRows, type Table } from './tables.ts'

/** Where changes are written. */
export interface Writing {
  /** Runs one statement; its only parameter is a JSON array of rows. */
  readonly run: (statement: string, rows: readonly Row[]) => Promise<void>
  /** Adds rows that are not there. */
  readonly copy: (table: Table, rows: readonly Row[]) => Promise<void>
}

type Pending =
  | { readonly kind: 'insert'; readonly row: Row }
  | { readonly kind: 'put'; readonly row: Row }
  | { readonly kind: 'patch'; readonly key: Row; readonly columns: Row }
  | { readonly kind: 'add'; readonly key: Row; readonly sums: Readonly<Record<string, number>> }
  | { readonly kind: 'remove'; readonly key: Row }

/** What a batch of events changes in one table, folded in memory to at most one change per row. */
export class TableChanges {
  readonly #table: Table
  readonly #writing: Writing
  #pending = new Map<string, Pending>()

  constructor(table: Table, writing: Writing) {
    this.#table = table
    this.#writing = writing
  }

  async apply(change: Change): Promise<void> {
    const next = toPending(change)
    const key = this.#keyOf('row' in next ? next.row : next.key)
    const earlier = this.#pending.get(key)
    if (earlier?.kind === 'insert' && next.kind === 'remove') {
      this.#pending.delete(key)
      return
    }
    const both = earlier ? merged(earlier, next) : next
    if (both) {
      this.#pending.set(key, both)
      return
    }
    // The two cannot become one statement: what is pending goes first.
    await this.flush()
    this.#pending.set(key, next)
  }

  async flush(): Promise<void> {
    const pending = [...this.#pending.values()]
    this.#pending = new Map()
    const groups = groupBy(pending, shape)
    for (const group of groups.values()) await this.#write(group[0]!, group.map(parameters))
  }

  #write(pending: Pending, rows: readonly Row[]): Promise<void> {
    if (pending.kind === 'insert') return this.#writing.copy(this.#table, rows)
    return this.#writing.run(statement(this.#table, pending), rows)
  }

  #keyOf(row: Row): string {
    const [column, ...others] = this.#table.key
    return others.reduce((key, other) => `${key}\x1f${String(row[other])}`, String(row[column!]))
  }
}

function toPending(change: Change): Pending {
  if ('put' in change) return { kind: change.isNew ? 'insert' : 'put', row: change.put }
  if ('patch' in change) return { kind: 'patch', key: change.key, columns: change.patch }
  if ('add' in change) return { kind: 'add', key: change.key, sums: change.add }
  return { kind: 'remove', key: change.remove }
}

/** Two changes of one row as one; `undefined` when no single statement does both. */
function merged(earlier: Pending, next: Pending): Pending | undefined {
  if (next.kind === 'insert') return earlier.kind === 'remove' ? { kind: 'put', row: next.row } : undefined
  if (next.kind === 'put') return { kind: earlier.kind === 'insert' ? 'insert' : 'put', row: next.row }
  if (next.kind === 'remove') return next
  if ('row' in earlier) {
    const columns = next.kind === 'patch' ? next.columns : summed(earlier.row, next.sums)
    return { kind: earlier.kind, row: { ...earlier.row, ...columns } }
  }
  if (earlier.kind === 'patch' && next.kind === 'patch')
    return { ...earlier, columns: { ...earlier.columns, ...next.columns } }
  if (earlier.kind === 'add' && next.kind === 'add' && haveSameColumns(earlier.sums, next.sums)) {
    return { ...earlier, sums: summed(earlier.sums, next.sums) }
  }
  return undefined
}

function haveSameColumns(one: object, other: object): boolean {
  const columns = Object.keys(one)
  return columns.length === Object.keys(other).length && columns.every((column) => column in other)
}

function summed(
  row: Readonly<Record<string, Value | undefined>>,
  sums: Readonly<Record<string, number>>,
): Record<string, number> {
  const total: Record<string, number> = {}
  for (const column in sums) total[column] = Number(row[column] ?? 0) + sums[column]!
  return total
}

function shape(pending: Pending): string {
  if (pending.kind === 'patch') return `patch ${Object.keys(pending.columns).sort().join()}`
  if (pending.kind === 'add') return `add ${Object.keys(pending.sums).sort().join()}`
  return pending.kind
}

function statement(table: Table, pending: Pending): string {
  if (pending.kind === 'put') return upsertRows(table)
  if (pending.kind === 'patch') return patchRows(table, Object.keys(pending.columns))
  if (pending.kind === 'add') return addToRows(table, Object.keys(pending.sums))
  return removeRows(table)
}

function parameters(pending: Pending): Row {
  if ('row' in pending) return pending.row
  if (pending.kind === 'patch') return { ...pending.key, ...pending.columns }
  if (pending.kind === 'add') return { ...pending.key, ...pending.sums }
  return pending.key
}

/** Node 20 has no Map.groupBy. */
function groupBy<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>()
  for (const item of items) {
    const key = keyOf(item)
    const group = groups.get(key)
    if (group) group.push(item)
    else groups.set(key, [item])
  }
  return groups
}
