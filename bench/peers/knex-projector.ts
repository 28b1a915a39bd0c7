import type { Knex } from 'knex'
import { DocumentFold } from '../../infra/postgres/read-models/document-fold.ts'
import { createIndexes, createTable, tableOf, type Table } from '../../infra/postgres/read-models/tables.ts'
import type { AnyDecider } from '../../packages/kernel/decider.ts'
import { recordedEvent } from '../../packages/kernel/history.ts'
import type { StoredEvent } from '../../packages/kernel/ports.ts'
import type { Change, ReadModel, RecordedEvent, Row } from '../../packages/kernel/projection.ts'

interface Target {
  readonly model: ReadModel
  readonly table: Table
  readonly fold: DocumentFold | undefined
}

/** The same read models, written the way most projections are: one statement per change. */
export class KnexProjector {
  readonly #knex: Knex
  readonly #deciders: ReadonlyMap<string, AnyDecider>
  #targets: readonly Target[] = []

  constructor(knex: Knex, deciders: readonly AnyDecider[]) {
    this.#knex = knex
    this.#deciders = new Map(deciders.map((decider) => [decider.category, decider]))
  }

  async open(models: readonly ReadModel[], generation: number): Promise<void> {
    this.#targets = models.map((model) => {
      const fold = model.kind === 'documents' ? new DocumentFold(model, async () => []) : undefined
      return { model, table: tableOf(model, generation), fold }
    })
    for (const { model, table } of this.#targets) {
      await this.#knex.raw(`drop table if exists ${table.name}`)
      await this.#knex.raw([createTable(table), ...createIndexes(model, table)].join(';'))
    }
  }

  /** One transaction per batch, which is more than most do. */
  async apply(events: readonly StoredEvent[]): Promise<void> {
    await this.#knex.transaction(async (transaction) => {
      for (const event of events) {
        const category = event.stream.slice(0, event.stream.indexOf('-'))
        const decider = this.#deciders.get(category)
        if (!decider) continue
        const known = recordedEvent(decider, event)
        for (const target of this.#targets) {
          for (const change of changesOf(target, known, category))
            await write(transaction, target.table, change)
        }
      }
    })
  }
}

function changesOf({ model, fold }: Target, event: RecordedEvent, category: string): readonly Change[] {
  if (model.kind === 'projection') return model.on[event.type]?.(event as RecordedEvent<never>) ?? []
  if (model.decider.category !== category) return []
  fold?.apply(event)
  const { added = [], changed = [] } = fold?.take() ?? {}
  fold?.settle()
  return [...added, ...changed].map((row) => ({ put: row }))
}

async function write(knex: Knex, table: Table, change: Change): Promise<void> {
  const [schema, name] = table.name.split('.') as [string, string]
  const rows = () => knex.withSchema(schema).table(name)
  if ('put' in change)
    await rows()
      .insert(plain(change.put))
      .onConflict([...table.key])
      .merge()
  else if ('patch' in change) await rows().where(plain(change.key)).update(plain(change.patch))
  else if ('remove' in change) await rows().where(plain(change.remove)).del()
  else {
    const sums = Object.keys(change.add)
    const merged = sums.map((column) => [column, knex.raw('?? + excluded.??', [`${name}.${column}`, column])])
    const row = plain({ ...change.key, ...change.add })
    await rows()
      .insert(row)
      .onConflict([...table.key])
      .merge(Object.fromEntries(merged))
  }
}

/** PostgreSQL takes objects as JSON. */
function plain(row: Row): Record<string, string | number | boolean | null> {
  const values = Object.entries(row).map(([column, value]) => {
    return [column, typeof value === 'object' && value !== null ? JSON.stringify(value) : value] as const
  })
  return Object.fromEntries(values)
}
