import { tableOf, type Table } from '../../../infra/postgres/read-models/tables.ts'
import { readModels } from '../../../projections/index.ts'

export type Row = Record<string, unknown>

const generation = 1
export const tables: ReadonlyMap<string, Table> = new Map(
  readModels.map((model) => {
    const table = tableOf(model, generation)
    return [table.name, table]
  }),
)
const tableNames: ReadonlyMap<string, string> = new Map(
  readModels.map((model) => {
    return [model.name, tableOf(model, generation).name]
  }),
)

/** What the read models' PostgreSQL holds: their tables, and how far each has come. */
export class SimulatedDatabase {
  readonly rows = new Map<string, Map<string, Row>>()
  readonly checkpoints = new Map<string, number>()

  constructor() {
    for (const name of tables.keys()) this.rows.set(name, new Map())
  }

  table(model: string): ReadonlyMap<string, Row> {
    return this.rows.get(tableNames.get(model)!)!
  }

  /** What every read model has reached. */
  get position(): number {
    return Math.min(...[...tables.keys()].map((name) => this.checkpoints.get(name) ?? 0))
  }

  /** What one of the statements in infra/postgres/{tables,changes}.ts does to a table. */
  write(statement: string, rows: readonly Row[]): void {
    const [, kind, name = ''] = /^(insert into|update|delete from) (\S+)/.exec(statement) ?? []
    const { table, stored } = this.#opened(name)
    const isSum = kind === 'insert into' && statement.startsWith(`insert into ${name} as r `)
    for (const row of rows) {
      const key = keyOf(table, row)
      const known = stored.get(key)
      if (kind === 'delete from') stored.delete(key)
      else if (kind === 'update') known && stored.set(key, { ...known, ...row })
      else stored.set(key, isSum ? summed(table, known, row) : whole(table, row))
    }
  }

  /** What COPY adds. */
  add(name: string, rows: readonly Row[]): void {
    const { table, stored } = this.#opened(name)
    for (const row of rows) stored.set(keyOf(table, row), whole(table, row))
  }

  /** COPY fails as a whole when one of its rows is there. */
  has(name: string, row: Row): boolean {
    const { table, stored } = this.#opened(name)
    return stored.has(keyOf(table, row))
  }

  #opened(name: string) {
    const table = tables.get(name)
    const stored = this.rows.get(name)
    if (!table || !stored) throw new Error(`the simulated database has no table ${name}`)
    return { table, stored }
  }
}

function keyOf({ key }: Table, row: Row): string {
  return key.map((column) => row[column]).join(' ')
}

/** A column that is not given is null. */
function whole({ columns }: Table, row: Row): Row {
  return Object.fromEntries(Object.keys(columns).map((column) => [column, row[column] ?? null]))
}

function summed(table: Table, known: Row | undefined, row: Row): Row {
  if (!known) return whole(table, row)
  const sums = Object.entries(row).filter(([column]) => !table.key.includes(column))
  const added = sums.map(([column, sum]) => [column, Number(known[column] ?? 0) + Number(sum)])
  return { ...known, ...Object.fromEntries(added) }
}

/** As what comes out of a database: nobody else holds it. */
export function copied<Value>(value: Value): Value {
  return value === undefined ? value : (JSON.parse(JSON.stringify(value)) as Value)
}

/** An error as the driver reports a broken connection. */
export class BrokenConnectionError extends Error {
  readonly code = '08006'
}

/** A row that was to be added is there. */
export class DuplicateKeyError extends Error {
  readonly code = '23505'
}
