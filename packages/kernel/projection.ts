import type { AnyDecider, Decider, Payloads } from './decider.ts'
import type { MerchantOwner, Owner } from './owner.ts'
import type { EventMetadata } from './ports.ts'

export type ColumnType = 'text' | 'integer' | 'bigint' | 'numeric' | 'boolean' | 'timestamptz' | 'json'
export type Columns = Readonly<Record<string, ColumnType>>
export type Value = string | number | boolean | object | null
export type Row = Readonly<Record<string, Value>>

/** A change that an event makes in a table. Keys name a row; `add` treats a missing row as zeros. */
export type Change =
  /** `isNew` promises that no earlier event has created this row, which makes it cheaper. */
  | { readonly put: Row; readonly isNew?: true }
  | { readonly patch: Row; readonly key: Row }
  | { readonly add: Readonly<Record<string, number>>; readonly key: Row }
  | { readonly remove: Row }

/** An event of one stream with its place in the log. */
export interface RecordedEvent<Data extends object = object, O extends Owner = MerchantOwner> {
  readonly stream: string
  readonly category: string
  /** The aggregate's id: the stream's name without its category. */
  readonly id: string
  /** 0 is the stream's first event. */
  readonly revision: number
  /** Grows along the whole log, with gaps. */
  readonly position: number
  readonly type: string
  readonly data: Data
  readonly metadata: EventMetadata<O>
  readonly eventId: string
}

/**
 * A read model with one row per stream: its state as of a revision. Beside the declared columns each row has
 * `id`, whose it is (`merchant` and `livemode`, `organization` or `user`), `created` (position of the first
 * event: the order of lists), `revision`, `position` and `state`.
 */
export interface Documents<State = unknown> {
  readonly kind: 'documents'
  readonly name: string
  /** Raise it to rebuild the table from the first event. Read models are never altered. */
  readonly version: number
  readonly decider: AnyDecider
  readonly columns: Columns
  /** The declared columns of a state; `undefined` when this stream has no row. */
  readonly row: (state: State) => Row | undefined
  readonly indexes: readonly (readonly string[])[]
  /** Text columns that lists can search. */
  readonly searched?: readonly string[]
  /** Columns that are null in most rows: indexes with one of them hold only those where it is not. */
  readonly sparse?: readonly string[]
  /** Columns that lists with a total filter by: a total is kept for each of their values. Left out: none. */
  readonly countedBy?: readonly string[]
  /**
   * How much of each page new rows fill; the rest is for their changes, which then write to no index.
   * Default: all of it.
   */
  readonly fillPercent?: number
}

/** A read model across streams: a pure function from each event to its changes. */
export interface Projection {
  readonly kind: 'projection'
  readonly name: string
  readonly version: number
  readonly columns: Columns
  readonly key: readonly string[]
  readonly indexes: readonly (readonly string[])[]
  /** Columns that mostly grow from row to row, for which a BRIN index is enough. */
  readonly monotonic?: readonly string[]
  /** Append-only: every change inserts a row, none updates or deletes one, which makes it cheaper. */
  readonly appendOnly?: true
  readonly on: Readonly<Record<string, (event: RecordedEvent<never>) => readonly Change[]>>
}

export type ReadModel = Documents<never> | Projection

type Declaration<S> = Omit<Documents<S>, 'kind' | 'decider' | 'row' | 'indexes'> &
  Partial<Pick<Documents<S>, 'row' | 'indexes'>>

/** By default the row is taken from the state, column by column, and what is gone has none. */
export function documents<S, C extends Payloads, E extends Payloads, O extends Owner>(
  decider: Decider<S, C, E, O>,
  declaration: Declaration<S>,
): Documents<S> {
  const row = (state: S) =>
    rowOf(state as Row & { readonly status?: string }, Object.keys(declaration.columns))
  return { kind: 'documents', decider, row, indexes: [], ...declaration }
}

const gone = ['none', 'abandoned', 'removed', 'deleted']

function rowOf(state: Row & { readonly status?: string }, names: readonly string[]): Row | undefined {
  if (state.status !== undefined && gone.includes(state.status)) return undefined
  return Object.fromEntries(names.map((name) => [name, state[name] ?? null]))
}

type Handlers<Events extends Payloads, O extends Owner> = {
  readonly [Type in keyof Events & string]?: (event: RecordedEvent<Events[Type], O>) => readonly Change[]
}

/** Declares which events it follows: `projection<LedgerEvents & PayoutEvents>()({ … })`. */
export function projection<Events extends Payloads, O extends Owner = MerchantOwner>() {
  return (
    declaration: Omit<Projection, 'kind' | 'on'> & { readonly on: Handlers<Events, O> },
  ): Projection => ({
    ...declaration,
    kind: 'projection',
    on: declaration.on as unknown as Projection['on'],
  })
}
