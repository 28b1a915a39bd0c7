import type pg from 'pg'
import type { Owner } from '../../../packages/kernel/owner.ts'
import type { DocumentRow, Page, PageQuery, ReadStore } from '../../../packages/kernel/ports/reads.ts'
import type { Documents, ReadModel } from '../../../packages/kernel/projection.ts'
import type { Postgres } from '../client/connect.ts'
import { pageOf, pageStatement, sourceOf, type PageRow, type Source } from './pages.ts'
import type { SharedReads } from '../client/shared-reads.ts'
import { prepared } from '../client/prepared-statements.ts'
import { publications } from './publication.ts'
import { Batcher } from '../client/batcher.ts'
import { selectDocument } from './tables.ts'
import { totalsOf } from './totals.ts'

const pollEveryMs = 5
const sourcesKeptMs = 1_000
const undefinedTable = '42P01'

type DocumentReads = Batcher<string, DocumentRow<Owner> | undefined>
type Sources = ReadonlyMap<string, Source>

/** Read models in Postgres. Concurrent reads of single rows share one query. */
export class PostgresReadStore implements ReadStore {
  readonly #pool: pg.Pool
  readonly #reads: SharedReads
  readonly #models: readonly ReadModel[]
  /** By table. */
  readonly #documentReads = new Map<string, DocumentReads>()
  #sources: Promise<Sources> | undefined
  /** What every read model has reached. */
  #reached = 0
  /** What each has reached, by its name. */
  readonly #positions = new Map<string, number>()
  #polling: Promise<number> | undefined

  constructor({ pool, reads }: Pick<Postgres, 'pool' | 'reads'>, models: readonly ReadModel[]) {
    this.#pool = pool
    this.#reads = reads
    this.#models = models
  }

  async document(name: string, id: string): Promise<DocumentRow<Owner> | undefined> {
    const source = (await this.#currentSources()).get(name)
    // A table folded by other code is not understood here: its streams are read from their first event.
    if (!source || source.isOther || source.model.kind !== 'documents') return undefined
    try {
      return await this.#documentsOf(source.model, source.table).enqueue(id)
    } catch (error) {
      this.#expectDropped(error)
      return undefined
    }
  }

  async page<Row>(query: PageQuery): Promise<Page<Row>> {
    try {
      return await this.#page<Row>(query)
    } catch (error) {
      this.#expectDropped(error)
      return this.#page<Row>(query)
    }
  }

  get known(): number {
    return this.#reached
  }

  async reached(position: number, timeoutMs: number, name?: string): Promise<boolean> {
    const until = performance.now() + timeoutMs
    while (this.#known(name) < position) {
      await this.position()
      if (this.#known(name) >= position) return true
      if (performance.now() > until) return false
      await new Promise((resolve) => setTimeout(resolve, pollEveryMs))
    }
    return true
  }

  /** A table that other code folds may stand still, so nobody waits for it: all others tell how far it is. */
  #known(name: string | undefined): number {
    return this.#positions.get(name ?? '') ?? this.#reached
  }

  /** All waiting callers share one query. */
  async position(): Promise<number> {
    this.#polling ??= this.#poll().finally(() => (this.#polling = undefined))
    return this.#polling
  }

  async #poll(): Promise<number> {
    const sources = [...(await this.#currentSources()).values()].filter(({ isOther }) => !isOther)
    const { rows } = await this.#pool.query<{ name: string; position: number }>({
      name: 'reached',
      text: 'select name, position from checkpoints where name = any($1)',
      values: [sources.map(({ table }) => table)],
    })
    const found = new Map(rows.map(({ name, position }) => [name, Number(position)]))
    this.#positions.clear()
    for (const { model, table } of sources)
      if (found.has(table)) this.#positions.set(model.name, found.get(table)!)
    this.#reached = Math.max(this.#reached, rows.length > 0 ? Math.min(...found.values()) : 0)
    return this.#reached
  }

  async #page<Row>(query: PageQuery): Promise<Page<Row>> {
    const source = (await this.#currentSources()).get(query.from)
    if (!source) throw new Error(`the read model ${query.from} was never published`)
    const { text, values } = pageStatement(source, query)
    const statement = prepared(text, values)
    if (query.share !== undefined) return pageOf(query, await this.#reads.query(query.share, statement))
    return pageOf(query, (await this.#pool.query<PageRow<Row>>(statement)).rows)
  }

  #documentsOf(model: Documents<never>, table: string): DocumentReads {
    const known = this.#documentReads.get(table)
    if (known) return known
    const columns = selectDocument(model, 'id', 'created', 'revision', 'position', 'state')
    const text = `${columns} from ${table} where id = any($1)`
    const reads = new Batcher(async (ids: readonly string[]) => {
      const query = { name: `documents ${table}`, text, values: [ids] }
      const { rows } = await this.#pool.query<DocumentRow<Owner>>(query)
      const found = new Map(rows.map((row) => [row.id, row]))
      return ids.map((id) => found.get(id))
    })
    this.#documentReads.set(table, reads)
    return reads
  }

  /** A table was dropped a moment ago, replaced by a newer one: look up which. */
  #expectDropped(error: unknown): void {
    if ((error as { code?: string }).code !== undefinedTable) throw error
    this.#sources = undefined
  }

  #currentSources(): Promise<Sources> {
    this.#sources ??= this.#readSources().catch((error: unknown) => {
      this.#sources = undefined
      throw error
    })
    return this.#sources
  }

  async #readSources(): Promise<Sources> {
    const published = await publications(this.#pool)
    const known = this.#models.flatMap((model) => {
      const one = published.get(model.name)
      return one ? [sourceOf(model, one)] : []
    })
    const text = 'select name from unnest($1::text[]) as name where to_regclass(name) is not null'
    const { rows } = await this.#pool.query<{ name: string }>(text, [
      known.map(({ table }) => totalsOf({ name: table })),
    ])
    const totals = new Set(rows.map(({ name }) => name))
    setTimeout(() => (this.#sources = undefined), sourcesKeptMs).unref()
    return new Map(
      known.map((source) => [
        source.model.name,
        { ...source, hasTotals: !source.isOther && totals.has(totalsOf({ name: source.table })) },
      ]),
    )
  }
}
