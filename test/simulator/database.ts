import type pg from 'pg'
import { tableOf, type Table } from '../../infra/postgres/tables.ts'
import type { DocumentRow, PageQuery, ReadStore } from '../../packages/kernel/read-ports.ts'
import { readModels } from '../../projections/index.ts'
import type { Life } from './scheduler.ts'
import type { Stage } from './stage.ts'

type Row = Record<string, unknown>
type Write = () => void

const generation = 1
const tables: ReadonlyMap<string, Table> = new Map(
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
  /** Told after each transaction that moved read models. */
  onCommit: () => void = () => undefined

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
    const table = tables.get(name)
    const stored = this.rows.get(name)
    if (!table || !stored) throw new Error(`the simulated database does not know: ${statement}`)
    const isSum = kind === 'insert into' && statement.startsWith(`insert into ${name} as r `)
    for (const row of rows) {
      const key = table.key.map((column) => row[column]).join(' ')
      const known = stored.get(key)
      if (kind === 'delete from') stored.delete(key)
      else if (kind === 'update') known && stored.set(key, { ...known, ...row })
      else if (isSum) stored.set(key, summed(table, known, row))
      else stored.set(key, row)
    }
  }
}

function summed({ key }: Table, known: Row | undefined, row: Row): Row {
  if (!known) return row
  const sums = Object.entries(row).filter(([column]) => !key.includes(column))
  return {
    ...known,
    ...Object.fromEntries(sums.map(([column, sum]) => [column, Number(known[column] ?? 0) + Number(sum)])),
  }
}

/** An error as the driver reports a broken connection. */
export class BrokenConnection extends Error {
  readonly code = '08006'
}

interface Connection {
  readonly stage: Stage
  readonly database: SimulatedDatabase
  readonly life: Life
  /** Throws when another process leads. Its lock and the commit are one moment, as with the real fence. */
  readonly fence?: (() => void) | undefined
}

interface Statement {
  readonly text: string
  readonly values: readonly unknown[]
}

/**
 * As much of a pool as the projector uses: its transactions are all or nothing, and their end may get lost.
 */
export function simulatedPool(connection: Connection): pg.Pool {
  const query = (given: unknown, values: readonly unknown[] = []) => {
    return answer(connection, statementOf(given, values), undefined)
  }
  const connect = async () => {
    const writes: Write[] = []
    const run = (given: unknown, values: readonly unknown[] = []) => {
      return answer(connection, statementOf(given, values), writes)
    }
    return { query: run, release: () => undefined }
  }
  // The projector calls nothing else of it; a statement that is not known here throws.
  return { query, connect } as unknown as pg.Pool
}

function statementOf(given: unknown, values: readonly unknown[]): Statement {
  return typeof given === 'string' ? { text: given.trim(), values } : (given as Statement)
}

async function answer(at: Connection, { text, values }: Statement, writes: Write[] | undefined) {
  const { database } = at
  if (/^(begin|rollback|create table)/.test(text)) return result([])
  if (text === 'commit') return commit(at, writes!)
  if (text.startsWith('insert into checkpoints')) return result([])
  if (text.startsWith('select position from checkpoints')) {
    return result([{ position: database.checkpoints.get(String(values[0])) ?? 0 }])
  }
  if (text.startsWith('select distinct stream from parked')) return result([])
  if (/^select id, .* from read\./.test(text)) return documents(at, { text, values })
  if (text.startsWith('update checkpoints set position')) return moveCheckpoints(at, values, writes!)
  if (text.startsWith('insert into parked')) {
    at.stage.violate('R7', `the projector parks ${values.slice(0, 3).join(' ')}: ${values.at(-1)}`)
    return result([])
  }
  const rows = JSON.parse(String(values[0])) as readonly Row[]
  writes!.push(() => database.write(text, rows))
  return result([])
}

type Move = readonly [names: readonly string[], from: readonly number[], through: number]

function moveCheckpoints({ stage, database }: Connection, values: readonly unknown[], writes: Write[]) {
  const [names, from, through] = values as Move
  const isCompared = stage.mistake !== 'projector without fence'
  const isThere = names.every((name, index) => (database.checkpoints.get(name) ?? 0) === from[index])
  if (isCompared && !isThere) return { rows: [], rowCount: 0 }
  writes.push(() => names.forEach((name) => database.checkpoints.set(name, through)))
  return { rows: [], rowCount: names.length }
}

function documents({ stage, database, life }: Connection, { text, values }: Statement) {
  const [, name = ''] = / from (\S+)/.exec(text) ?? []
  const ids = values[0] as readonly string[]
  return stage.scheduler.call(life, () => {
    const rows = ids.flatMap((id) => database.rows.get(name)!.get(id) ?? [])
    return { rows: copied(rows), rowCount: rows.length }
  })
}

async function commit({ stage, database, life, fence }: Connection, writes: readonly Write[]) {
  if (writes.length === 0) return result([])
  const { random, weather } = stage.scheduler
  const fate = random.chance(weather.brokenWrite) ? random.pick(['before', 'after'] as const) : 'done'
  return stage.scheduler.call(life, () => {
    fence?.()
    if (fate !== 'before') {
      for (const write of writes) write()
      database.onCommit()
    }
    if (fate !== 'done') throw new BrokenConnection(`the connection broke ${fate} the commit`)
    return { rows: [], rowCount: 0 }
  })
}

function result(rows: readonly Row[]) {
  return { rows, rowCount: rows.length }
}

/** Read models as the API sees them. */
export function simulatedReads({ stage, database, life }: Connection): ReadStore {
  const { scheduler } = stage
  return {
    document: (name, id) =>
      scheduler.call(life, () => {
        return copied(database.table(name).get(id)) as DocumentRow | undefined
      }),
    page: <R>(query: PageQuery) =>
      scheduler.call(life, () => ({ rows: copied(page(database, query)) as R[] })),
    position: () => scheduler.call(life, () => database.position),
    async reached(position, timeoutMs) {
      const until = scheduler.now + timeoutMs
      while (database.position < position) {
        if (scheduler.now >= until) return false
        await scheduler.pause(life, pollEveryMs)
      }
      return true
    },
  }
}

const pollEveryMs = 250

function page(database: SimulatedDatabase, { from, where, order, limit }: PageQuery): readonly Row[] {
  const rows = [...database.table(from).values()].filter((row) =>
    where.every(({ column, operator, value }) => {
      if (operator === '=') return row[column] === value
      if (operator === '<') return String(row[column]) < String(value)
      throw new Error(`the simulated database does not compare by ${operator}`)
    }),
  )
  return rows.sort((one, other) => compared(other[order], one[order])).slice(0, limit)
}

function compared(one: unknown, other: unknown): number {
  if (typeof one === 'number' && typeof other === 'number') return one - other
  return String(one) < String(other) ? -1 : 1
}

/** As what comes out of a database: nobody else holds it. */
function copied<Value>(value: Value): Value {
  return value === undefined ? value : (JSON.parse(JSON.stringify(value)) as Value)
}
