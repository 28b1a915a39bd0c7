import type { Change, Row } from '../../../packages/kernel/projection.ts'
import { CopyRows } from '../client/copy-rows.ts'
import { addToRows, patchRows, removeRows, upsertRows, type Table } from './tables.ts'
import type { KeyBloomFilter } from '../idempotency/key-bloom-filter.ts'

/** Where changes are written to. */
export interface Writing {
  /** Runs one statement whose only parameter is a JSON array of rows. */
  readonly run: (statement: string, rows: string) => Promise<void>
  /** Inserts rows that do not exist yet. */
  readonly copy: (table: Table, rows: readonly Buffer[]) => Promise<void>
}

/** One statement, or rows that do not exist yet. */
export type TableWrite =
  | { readonly statement: RowStatement; readonly rows: () => string }
  | { readonly table: Table; readonly added: () => readonly Buffer[] }

export interface RowStatement {
  /** Given an expression for its rows, a JSON array. */
  readonly text: (rows: string) => string
  /** It looks for the rows that it changes, which depends on how it is planned. */
  readonly looksUp: boolean
}

/** One after the other. */
export async function writeTo({ run, copy }: Writing, writes: readonly TableWrite[]): Promise<void> {
  for (const write of writes) {
    if ('table' in write) await copy(write.table, write.added())
    else await run(write.statement.text('$1::json'), write.rows())
  }
}

export function upserting(table: Table): RowStatement {
  return { text: (rows) => upsertRows(table, rows), looksUp: false }
}

type Pending =
  | { readonly kind: 'insert' | 'put'; readonly row: Row }
  | { readonly kind: 'patch'; readonly key: Row; readonly columns: Row }
  | Sums
  | { readonly kind: 'remove'; readonly key: Row }

interface Sums {
  readonly kind: 'add'
  readonly key: Row
  readonly sums: Record<string, number>
  readonly columns: readonly string[]
}

type Layer = Map<string, Pending>

/** What a batch of the log changes in one table, folded in memory to at most one change per row. */
export class TableChanges {
  readonly #table: Table
  readonly #written: KeyBloomFilter | undefined
  /** Changes of one row that cannot be merged into one statement are stacked. */
  readonly #layers: Layer[] = [new Map()]

  /** With `written`, it is known which rows do not exist: those are inserted and never updated. */
  constructor(table: Table, written?: KeyBloomFilter) {
    this.#table = table
    this.#written = written
  }

  apply(change: Change): void {
    const key = this.#keyOf(namedBy(change))
    const layer = this.#layers.at(-1)!
    const earlier = layer.get(key)
    if (!earlier) {
      const first = this.#first(change, key)
      if (first) layer.set(key, first)
    } else if (earlier.kind === 'insert' && 'remove' in change) {
      layer.delete(key)
    } else if (!(earlier.kind === 'add' && 'add' in change && raise(earlier, change.add))) {
      const both = merged(earlier, change)
      if (both) layer.set(key, both)
      else this.#begin().set(key, toPending(change))
    }
  }

  /** Ends it: returns how all of it is written. From now on its rows may exist. */
  take(): readonly TableWrite[] {
    const groups = this.#layers.flatMap((layer) => {
      const settled = [...layer].map(([key, pending]) => this.#settled(key, pending))
      return [...groupBy(settled, shape).values()]
    })
    return groups.map((group) => this.#writeOf(group))
  }

  /** The first change of a row; `undefined` when there is no such row to change. */
  #first(change: Change, key: string): Pending | undefined {
    if (!this.#written || 'add' in change || this.#written.mayHold(key)) return toPending(change)
    return 'put' in change ? { kind: 'insert', row: change.put } : undefined
  }

  #begin(): Layer {
    if (this.#written) for (const key of this.#layers.at(-1)!.keys()) this.#written.add(key)
    const layer: Layer = new Map()
    this.#layers.push(layer)
    return layer
  }

  #settled(key: string, pending: Pending): Pending {
    if (!this.#written || pending.kind === 'patch' || pending.kind === 'remove') return pending
    const isNew = pending.kind === 'add' && !this.#written.mayHold(key)
    this.#written.add(key)
    return isNew ? { kind: 'insert', row: Object.assign({}, pending.key, pending.sums) } : pending
  }

  #writeOf(group: readonly Pending[]): TableWrite {
    const table = this.#table
    const first = group[0]!
    if (first.kind !== 'insert')
      return { statement: statementOf(table, first), rows: () => JSON.stringify(group.map(parameters)) }
    const added = () => {
      const rows = new CopyRows(table.columns)
      rows.add(group.map(parameters))
      return rows.take()
    }
    return { table, added }
  }

  #keyOf(row: Row): string {
    const { key } = this.#table
    let name = String(row[key[0]!])
    for (let index = 1; index < key.length; index++) name += `\x1f${String(row[key[index]!])}`
    return name
  }
}

function namedBy(change: Change): Row {
  if ('put' in change) return change.put
  return 'remove' in change ? change.remove : change.key
}

function toPending(change: Change): Pending {
  if ('put' in change) return { kind: change.isNew ? 'insert' : 'put', row: change.put }
  if ('patch' in change) return { kind: 'patch', key: change.key, columns: change.patch }
  if ('add' in change) {
    const sums = { ...change.add }
    return { kind: 'add', key: change.key, sums, columns: Object.keys(sums) }
  }
  return { kind: 'remove', key: change.remove }
}

/** Adds to sums of the same columns; false when the columns differ. */
function raise({ sums, columns }: Sums, added: Readonly<Record<string, number>>): boolean {
  let count = 0
  for (const column in added) {
    if (!(column in sums)) return false
    count++
  }
  if (count !== columns.length) return false
  for (const column of columns) sums[column]! += added[column]!
  return true
}

/** Two changes of one row merged into one; `undefined` when no single statement does both. */
function merged(earlier: Pending, next: Change): Pending | undefined {
  if ('put' in next && next.isNew)
    return earlier.kind === 'remove' ? { kind: 'put', row: next.put } : undefined
  if ('put' in next) return { kind: earlier.kind === 'insert' ? 'insert' : 'put', row: next.put }
  if ('remove' in next) return toPending(next)
  if ('row' in earlier) {
    const columns = 'patch' in next ? next.patch : summed(earlier.row, next.add)
    return { kind: earlier.kind, row: Object.assign({}, earlier.row, columns) }
  }
  if (earlier.kind === 'patch' && 'patch' in next)
    return { kind: 'patch', key: earlier.key, columns: Object.assign({}, earlier.columns, next.patch) }
  return undefined
}

function summed(row: Row, sums: Readonly<Record<string, number>>): Record<string, number> {
  const total: Record<string, number> = {}
  for (const column in sums) total[column] = Number(row[column] ?? 0) + sums[column]!
  return total
}

function shape(pending: Pending): string {
  if (pending.kind === 'patch') return `patch ${Object.keys(pending.columns).sort().join()}`
  if (pending.kind === 'add') return `add ${[...pending.columns].sort().join()}`
  return pending.kind
}

function statementOf(table: Table, pending: Pending): RowStatement {
  if (pending.kind === 'put') return upserting(table)
  if (pending.kind === 'add')
    return { text: (rows) => addToRows(table, pending.columns, rows), looksUp: false }
  if (pending.kind === 'patch')
    return { text: (rows) => patchRows(table, Object.keys(pending.columns), rows), looksUp: true }
  return { text: (rows) => removeRows(table, rows), looksUp: true }
}

function parameters(pending: Pending): Row {
  if ('row' in pending) return pending.row
  if (pending.kind === 'patch') return Object.assign({}, pending.key, pending.columns)
  if (pending.kind === 'add') return Object.assign({}, pending.key, pending.sums)
  return pending.key
}

/** Node 20 lacks Map.groupBy. */
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
