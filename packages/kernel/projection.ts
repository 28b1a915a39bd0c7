import type { AnyDecider, Decider, Payloads } from './decider.ts'
import type { EventMetadata } from './ports.ts'

export type ColumnType = 'text' | 'integer' | 'bigint' | 'numeric' | 'boolean' | 'timestamptz' | 'json'
export type Columns = Readonly<Record<string, ColumnType>>
export type Value = string | number | boolean | object | null
export type Row = Readonly<Record<string, Value>>

/** What one event changes in a table. Keys name a row, `add` takes a missing row as one of zeros. */
export type Change =
  /** `isNew` promises that no other event has made this row before, which makes it cheaper. */
  | { readonly put: Row; readonly isNew?: true }
  | { readonly patch: Row; readonly key: Row }
  | { readonly add: Readonly<Record<string, number>>; readonly key: Row }
  | { readonly remove: Row }

/** An event of one stream as it stands in the log. */
export interface RecordedEvent<Data extends object = object> {
  readonly stream: string
  readonly category: string
  /** The aggregate's own id: the part of the stream's name behind the category. */
  readonly id: string
  /** 0 is the stream's first event. */
  readonly revision: number
  /** Grows along the whole log; not without gaps. */
  readonly position: number
  readonly type: string
  readonly data: Data
  readonly metadata: EventMetadata
  readonly eventId: string
}

/**
 * A read model with one row per stream: its state as of a revision. Beside the declared columns each row has
 * `id`, `merchant`, `livemode`, `created` (position of the first event: the order of lists), `revision`,
 * `position` and `state`.
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
  /** Columns of texts that lists look for parts of. */
  readonly searched?: readonly string[]
  /** Columns that lists with a total filter by: it is kept for each of their values. Left out: none are. */
  readonly countedBy?: readonly string[]
}

/** A read model across streams: a pure function from each event to what it changes. */
export interface Projection {
  readonly kind: 'projection'
  readonly name: string
  readonly version: number
  readonly columns: Columns
  readonly key: readonly string[]
  readonly indexes: readonly (readonly string[])[]
  /** Columns that grow from row to row, mostly: it is enough to know what each stretch of rows holds. */
  readonly monotonic?: readonly string[]
  /** Every change is a row that is new: nothing is ever changed or removed, which makes it cheaper. */
  readonly appendOnly?: true
  readonly on: Readonly<Record<string, (event: RecordedEvent<never>) => readonly Change[]>>
}

export type ReadModel = Documents<never> | Projection

type Declaration<S> = Omit<Documents<S>, 'kind' | 'decider' | 'row' | 'indexes'> &
  Partial<Pick<Documents<S>, 'row' | 'indexes'>>

/** Left out, the row is what the state says under the columns' names, and there is none for what is gone. */
export function documents<S, C extends Payloads, E extends Payloads>(
  decider: Decider<S, C, E>,
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

type Handlers<Events extends Payloads> = {
  readonly [Type in keyof Events & string]?: (event: RecordedEvent<Events[Type]>) => readonly Change[]
}

/** Declare which events it follows: `projection<LedgerEvents & PayoutEvents>()({ … })`. */
export function projection<Events extends Payloads>() {
  return (declaration: Omit<Projection, 'kind' | 'on'> & { readonly on: Handlers<Events> }): Projection => ({
    ...declaration,
    kind: 'projection',
    on: declaration.on as Projection['on'],
  })
}
