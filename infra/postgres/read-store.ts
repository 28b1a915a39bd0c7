import type { Knex } from 'knex'
import type pg from 'pg'
import type { DocumentRow, PageQuery, ReadStore } from '../../packages/kernel/read-ports.ts'
import type { ReadModel } from '../../packages/kernel/projection.ts'
import { Gather } from './gather.ts'
import { publications } from './publication.ts'
import { readSchema, tableOf } from './tables.ts'

const pollEveryMs = 5
const publicationsKeptMs = 1_000
const undefinedTable = '42P01'

/** Read models in Postgres. Reads of single rows that are asked for at the same time go as one query. */
export class PostgresReadStore implements ReadStore {
  readonly #pool: pg.Pool
  readonly #knex: Knex
  readonly #models: ReadonlyMap<string, ReadModel>
  readonly #gathers = new Map<string, Gather<DocumentRow>>()
  #tables: Promise<ReadonlyMap<string, string>> | undefined
  #reached = 0
  #polling: Promise<number> | undefined

  constructor(pool: pg.Pool, knex: Knex, models: readonly ReadModel[]) {
    this.#pool = pool
    this.#knex = knex
    this.#models = new Map(models.map((model) => [model.name, model]))
  }

  async document(name: string, id: string): Promise<DocumentRow | undefined> {
    // A table that older code has folded is not understood here: its streams are read from their first event.
    const table = (await this.#currentTables()).get(name)
    if (!table) return undefined
    let gather = this.#gathers.get(table)
    if (!gather) this.#gathers.set(table, (gather = new Gather((ids) => this.#documents(table, ids))))
    return gather.get(id).catch((error: { code?: string }) => {
      if (error.code !== undefinedTable) throw error
      // Dropped a moment ago, because a newer one has taken its place.
      this.#tables = undefined
      return undefined
    })
  }

  async page<Row>(query: PageQuery): Promise<{ readonly rows: readonly Row[]; readonly total?: number }> {
    const matching = this.#knex(`${readSchema}.${query.from}`)
    for (const { column, operator, value } of query.where) {
      if (operator === 'in') matching.whereIn(column, value as readonly string[])
      else matching.where(column, operator, value as string)
    }
    const counted = query.count ? matching.clone().count<{ count: number }[]>({ count: '*' }) : undefined
    const rows = matching
      .orderBy(query.order, query.ascending ? 'asc' : 'desc')
      .limit(query.limit)
      .offset(query.offset ?? 0)
    const [page, count] = await Promise.all([rows, counted])
    return { rows: page as Row[], ...(count && { total: Number(count[0]!.count) }) }
  }

  async reached(position: number, timeoutMs: number): Promise<boolean> {
    const until = performance.now() + timeoutMs
    while (this.#reached < position) {
      if ((await this.position()) >= position) return true
      if (performance.now() > until) return false
      await new Promise((resolve) => setTimeout(resolve, pollEveryMs))
    }
    return true
  }

  /** Everybody who waits asks with one query. */
  async position(): Promise<number> {
    this.#polling ??= this.#poll().finally(() => (this.#polling = undefined))
    return this.#polling
  }

  async #poll(): Promise<number> {
    const tables = await this.#currentTables()
    const { rows } = await this.#pool.query<{ position: number | null }>(
      'select min(position) as position from checkpoints where name = any($1)',
      [[...tables.values()]],
    )
    this.#reached = Math.max(this.#reached, Number(rows[0]?.position ?? 0))
    return this.#reached
  }

  async #documents(table: string, ids: readonly string[]): Promise<ReadonlyMap<string, DocumentRow>> {
    const { rows } = await this.#pool.query<DocumentRow>({
      name: `documents ${table}`,
      text: `select id, merchant, livemode, created, revision, position, state from ${table} where id = any($1)`,
      values: [ids],
    })
    return new Map(rows.map((row) => [row.id, row]))
  }

  /** Tables by read model, as far as the published version is the one that this code declares. */
  #currentTables(): Promise<ReadonlyMap<string, string>> {
    this.#tables ??= this.#readTables().catch((error: unknown) => {
      this.#tables = undefined
      throw error
    })
    return this.#tables
  }

  async #readTables(): Promise<ReadonlyMap<string, string>> {
    const tables = new Map<string, string>()
    for (const [name, { version, generation }] of await publications(this.#pool)) {
      const model = this.#models.get(name)
      if (model?.version === version) tables.set(name, tableOf(model, generation).name)
    }
    setTimeout(() => (this.#tables = undefined), publicationsKeptMs).unref()
    return tables
  }
}
