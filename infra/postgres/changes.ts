import type { Change, Row, Value } from '../../packages/kernel/projection.ts'
import { addToRows, patchRows, removeRows, upsertRows, type Table } from './tables.ts'

/** Runs one statement; its only parameter is a JSON array of rows. */
export type Run = (statement: string, rows: readonly Row[]) => Promise<void>

type Pending =
  | { readonly kind: 'put'; readonly row: Row }
  | { readonly kind: 'patch'; readonly key: Row; readonly columns: Row }
  | { readonly kind: 'add'; readonly key: Row; readonly sums: Readonly<Record<string, number>> }
  | { readonly kind: 'remove'; readonly key: Row }

/** What a batch of events changes in one table, folded in memory to at most one change per row. */
export class TableChanges {
  readonly #table: Table
  readonly #run: Run
  #pending = new Map<string, Pending>()

  constructor(table: Table, run: Run) {
    this.#table = table
    this.#run = run
  }

  async apply(change: Change): Promise<void> {
    const next = this.#toPending(change)
    const key = this.#keyOf(next.kind === 'put' ? next.row : next.key)
    const earlier = this.#pending.get(key)
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
    for (const group of groups.values())
      await this.#run(statement(this.#table, group[0]!), group.map(parameters))
  }

  #toPending(change: Change): Pending {
    if ('put' in change) return { kind: 'put', row: change.put }
    if ('patch' in change) return { kind: 'patch', key: change.key, columns: change.patch }
    if ('add' in change) return { kind: 'add', key: change.key, sums: change.add }
    return { kind: 'remove', key: change.remove }
  }

  #keyOf(row: Row): string {
    return JSON.stringify(this.#table.key.map((column) => row[column]))
  }
}

/** Two changes of one row as one; `undefined` when no single statement does both. */
function merged(earlier: Pending, next: Pending): Pending | undefined {
  if (next.kind === 'put' || next.kind === 'remove') return next
  if (earlier.kind === 'put') {
    const row =
      next.kind === 'patch'
        ? { ...earlier.row, ...next.columns }
        : { ...earlier.row, ...summed(earlier.row, next.sums) }
    return { kind: 'put', row }
  }
  if (earlier.kind === 'patch' && next.kind === 'patch')
    return { ...earlier, columns: { ...earlier.columns, ...next.columns } }
  if (earlier.kind === 'add' && next.kind === 'add' && shape(earlier) === shape(next)) {
    return { ...earlier, sums: summed(earlier.sums, next.sums) }
  }
  return undefined
}

function summed(
  row: Readonly<Record<string, Value | undefined>>,
  sums: Readonly<Record<string, number>>,
): Record<string, number> {
  return Object.fromEntries(
    Object.entries(sums).map(([column, sum]) => [column, Number(row[column] ?? 0) + sum]),
  )
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
  if (pending.kind === 'put') return pending.row
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
