import type { Table } from '../../infra/postgres/read-models/tables.ts'
import { evolve } from '../../packages/kernel/decider.ts'
import type {
  Change,
  Columns,
  Documents,
  Projection,
  ReadModel,
  RecordedEvent,
  Row,
  Value,
} from '../../packages/kernel/projection.ts'
import { keyOf, type Share } from './share.ts'

/** What a table must hold by the log, folded in memory and not with the projector's SQL. */
export interface Expected {
  apply(event: RecordedEvent): void
  /** Takes the row with the key of an actual one out of what is left to be found. */
  take(actual: Row): Row | undefined
  /** Rows that were not taken. */
  left(): Iterable<Row>
}

interface ExpectedDocument {
  readonly first: RecordedEvent
  state: unknown
  revision: number
  position: number
}

/** The states of the streams of one category, by the decider's own `evolve`. */
export class ExpectedDocuments implements Expected {
  readonly #model: Documents<never>
  readonly #share: Share
  readonly #known = new Map<string, ExpectedDocument>()

  constructor(model: Documents<never>, share: Share) {
    this.#model = model
    this.#share = share
  }

  apply(event: RecordedEvent): void {
    const { id, revision, position } = event
    if (!this.#share.holds(keyOf({ id }, ['id']))) return
    const known = this.#known.get(id)
    if (revision !== (known?.revision ?? -1) + 1) {
      throw new Error(`revision ${revision} follows ${known?.revision ?? 'nothing'}`)
    }
    const { decider } = this.#model
    const state = evolve(decider, known ? known.state : decider.initial(), event, event.metadata)
    this.#known.set(id, { first: known?.first ?? event, state, revision, position })
  }

  take({ id }: Row): Row | undefined {
    const known = this.#known.get(String(id))
    this.#known.delete(String(id))
    return known && this.#row(String(id), known)
  }

  *left(): Generator<Row> {
    for (const [id, known] of this.#known) yield this.#row(id, known)
  }

  #row(id: string, { first, state, revision, position }: ExpectedDocument): Row {
    const columns = this.#model.row(state as never)
    const { merchant, livemode, at } = first.metadata
    return {
      id,
      merchant,
      livemode,
      created: first.position,
      created_at: at,
      shown: columns !== undefined,
      revision,
      position,
      state: state as object,
      ...columns,
    }
  }
}

/** The rows of a read model across streams, by its own handlers. */
export class ExpectedRows implements Expected {
  readonly #model: Projection
  readonly #share: Share
  readonly #rows = new Map<string, Row>()

  constructor(model: Projection, share: Share) {
    this.#model = model
    this.#share = share
  }

  apply(event: RecordedEvent): void {
    for (const change of this.#model.on[event.type]?.(event as RecordedEvent<never>) ?? [])
      this.#change(change)
  }

  take(actual: Row): Row | undefined {
    const key = keyOf(actual, this.#model.key)
    const row = this.#rows.get(key)
    this.#rows.delete(key)
    return row
  }

  left(): Iterable<Row> {
    return this.#rows.values()
  }

  #change(change: Change): void {
    const key = keyOfChange(change, this.#model)
    if (!this.#share.holds(key)) return
    const known = this.#rows.get(key)
    if ('remove' in change) this.#rows.delete(key)
    else if ('put' in change) this.#rows.set(key, change.put)
    else if ('add' in change) this.#rows.set(key, { ...(known ?? change.key), ...added(known, change.add) })
    else if (known) this.#rows.set(key, { ...known, ...change.patch })
  }
}

function keyOfChange(change: Change, { key }: Projection): string {
  return keyOf('put' in change ? change.put : 'remove' in change ? change.remove : change.key, key)
}

/** Whether a read model has anything to do with an event. */
export function isFollowed(
  model: ReadModel,
  { type }: Pick<RecordedEvent, 'type'>,
  category: string,
): boolean {
  return model.kind === 'documents' ? category === model.decider.category : type in model.on
}

/** Keys of the rows that an event changes. */
export function keysOf(model: ReadModel, event: RecordedEvent): readonly string[] {
  if (model.kind === 'documents') return [keyOf({ id: event.id }, ['id'])]
  return (model.on[event.type]?.(event as RecordedEvent<never>) ?? []).map((change) =>
    keyOfChange(change, model),
  )
}

function added(known: Row | undefined, sums: Readonly<Record<string, number>>): Row {
  return Object.fromEntries(
    Object.entries(sums).map(([column, sum]) => [column, Number(known?.[column] ?? 0) + sum]),
  )
}

/** A value as PostgreSQL gives it back: what is not given is null, JSON has no order of keys. */
function asStored(value: Value | undefined, type: Columns[string]): Value {
  if (value === undefined || value === null) return null
  if (type === 'timestamptz') return new Date(String(value)).toISOString()
  if (type === 'json') return JSON.parse(JSON.stringify(value)) as Value
  if (type === 'text') return typeof value === 'string' ? value : JSON.stringify(value)
  return type === 'boolean' ? value : Number(value)
}

export function storedRow(row: Row, { columns }: Table): Row {
  return Object.fromEntries(
    Object.entries(columns).map(([column, type]) => [column, asStored(row[column], type)]),
  )
}
