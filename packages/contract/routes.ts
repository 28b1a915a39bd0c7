import type { AnyDecider, Decider, Payloads } from '../kernel/decider.ts'
import type { Outcome } from '../kernel/execution/options.ts'
import type { Owner } from '../kernel/owner.ts'
import type { Columns, Documents, Projection } from '../kernel/projection.ts'
import type { Caller } from './access/callers.ts'
import type { Dependencies } from './dependencies.ts'
import { History } from './history.ts'
import { listed } from './lists/envelope.ts'
import type { Paged, Redirection, Refused, Shown, Visit } from './lists/pages.ts'
import type { Client, Request, SendOptions } from './request.ts'
import { objectName } from './resource.ts'
import type {
  ActsFor,
  Asked,
  Common,
  Following,
  Joins,
  Listing,
  Location,
  Mapping,
  Named,
  NamedExamples,
  Narrowed,
  Operation,
  Rowed,
  Slice,
  View,
  Within,
} from './row.ts'
import type { Section } from './section.ts'
import { Type, type Static, type TObject, type TSchema } from './vocabulary.ts'

export type { ActsFor, Client, Dependencies, Location, NamedExamples, Operation, Request, SendOptions, Slice }

/** Starts a new stream with one command. Responds with 201 and the view of the new state. */
export function create<
  S,
  C extends Payloads,
  E extends Payloads,
  Type extends keyof C & string,
  Body extends TSchema,
  Returns extends TSchema,
  O extends Owner,
  Beside = undefined,
>(
  operation: Operation,
  row: Common &
    Named &
    Within &
    Following<S, NoInfer<Body>> & {
      readonly body: Body
      readonly returns: Returns
      /** 202: what was asked for is done later. */
      readonly status?: 202
      readonly decider: Decider<S, C, E, O>
      readonly command: Type
      readonly view: View<S, Returns, NoInfer<Beside>>
      /** Where the id follows from the body, so the same thing twice is one stream; else it is new. */
      readonly identity?: (body: Static<Body>, caller: Caller) => string | undefined
      /**
       * True when `prepare` writes nothing, so that a repeat fails without a trace: repeats are rare. For all
       * others the stream is read first.
       */
      readonly comesFirst?: (body: Static<Body>) => boolean
    } & Joins<S, Beside> &
    Mapping<Body, C[Type], O>,
) {
  return { kind: 'create', operation, ...row } as const
}

/**
 * Sends one command to the stream that the path names, or to the caller's own. Responds with 200 and the view
 * of the new state; with 201 where the command makes a part of it.
 */
export function change<
  S,
  C extends Payloads,
  E extends Payloads,
  Type extends keyof C & string,
  Body extends TSchema,
  Returns extends TSchema,
  O extends Owner,
  Beside = undefined,
>(
  operation: Operation,
  row: Common &
    Named &
    Within &
    Narrowed &
    Following<S, NoInfer<Body>> & {
      readonly body?: Body
      readonly returns: Returns
      readonly status?: 201 | 202
      readonly decider: Decider<S, C, E, O>
      readonly command: Type
      readonly view: View<S, Returns, NoInfer<Beside>>
      /** Where children are read whose parent the path names. */
      readonly from?: Documents<S>
    } & Joins<S, Beside> &
    Mapping<Body, C[Type], O>,
) {
  return { kind: 'change', operation, ...row } as const
}

/**
 * One row of a read model, brought up to date from its stream; what is never listed has none, and is shown
 * from its stream. 404 when there is none or it belongs to another owner.
 */
export function show<
  S,
  C extends Payloads,
  E extends Payloads,
  Returns extends TSchema,
  O extends Owner,
  Beside = undefined,
>(
  operation: Operation,
  row: Common &
    Named &
    Paged<Returns> &
    Within &
    Narrowed &
    ({ readonly from: Documents<S> } | { readonly decider: Decider<S, C, E, O> }) & {
      readonly returns: Returns
      readonly view: View<S, Returns, NoInfer<Beside>>
    } & Joins<S, Beside>,
) {
  return { kind: 'show', operation, ...row } as const
}

/** The same for a read model across streams. */
export function showRow<Returns extends TSchema>(
  operation: Operation,
  row: Common &
    Named &
    Paged<Returns> &
    Rowed & {
      readonly returns: Returns
      readonly query?: TObject
      readonly view: RowView<Returns>
    },
) {
  return { kind: 'show', operation, ...row } as const
}

/**
 * Every event of what `show` shows, with time, actor and what it changed. The view has the stream alone, so
 * it may show less; one that depends on the time gets that of the event. What each caller has by itself may
 * have no event yet.
 */
export function history<S, Returns extends TSchema>(
  operation: Operation,
  row: Omit<Common, 'summary'> &
    Named &
    Within & {
      readonly summary?: string
      readonly returns: Returns
      readonly from: Documents<S>
      readonly view: (id: string, state: S, at: Date) => Partial<Static<Returns>> | undefined
    },
) {
  const what = objectName(row.returns)?.replaceAll('_', ' ')
  const summary = `Every event of the ${what}, with time, actor and what changed`
  return { kind: 'history', operation, summary, inferred: true, ...row, returns: History } as const
}

/** Pages, filters and sorts one read model, newest first. */
export function list<S, Returns extends TSchema, Beside = undefined>(
  operation: Operation,
  row: Common &
    Named &
    Within &
    Narrowed &
    Listing & {
      readonly returns: Returns
      readonly from: Documents<S>
      readonly view: View<S, Returns, NoInfer<Beside>>
    } & Joins<S, Beside>,
) {
  return { kind: 'list', operation, ...row } as const
}

type RowView<Returns extends TSchema> = (row: Readonly<Record<keyof Columns, unknown>>) => Static<Returns>

/** The same for a read model across streams, whose rows are shown as they are. */
export function listRows<Returns extends TSchema>(
  operation: Operation,
  row: Common &
    Named &
    Within &
    Listing & {
      readonly returns: Returns
      readonly from: Projection
      readonly order: string
      readonly view: RowView<Returns>
    },
) {
  return { kind: 'list', operation, ...row } as const
}

/** A list of what is in no read model: an action answers one page of it. */
export function listItems<Item extends TSchema, Query extends TSchema | undefined = undefined>(
  operation: Operation,
  row: Common &
    Named & {
      readonly query?: Query
      readonly returns: Item
      readonly items: (request: Request<undefined, QueryOf<Query>>) => Promise<Slice<Static<Item>>>
    },
) {
  return { kind: 'items', operation, ...row, returns: listed(row.returns) } as const
}

type QueryOf<Query extends TSchema | undefined> = Query extends TSchema
  ? Static<Query>
  : Readonly<Record<string, never>>

/** Anything else: one named function in `services/api/actions/<family>.ts`. */
export function perform<
  Returns extends TSchema,
  Body extends TSchema | undefined = undefined,
  Query extends TSchema | undefined = undefined,
>(
  operation: Operation,
  row: Common &
    Named &
    Paged<Returns> & {
      readonly body?: Body
      readonly query?: Query
      readonly returns: Returns
      readonly status?: 200 | 201 | 202
      /** Its first command goes to its subject: `If-Match` can bind it to a revision. */
      readonly isChange?: true
      /**
       * The action starts this stream with the request's own id: a repeated idempotency key is answered from
       * the stream's first events. Without this, the response of a keyed request is stored.
       */
      readonly creates?: {
        readonly decider: AnyDecider
        readonly view: (id: string, state: never) => Static<Returns> | undefined
      }
      readonly action: (
        request: Request<Body extends TSchema ? Static<Body> : undefined, QueryOf<Query>>,
      ) => Promise<Static<Returns>>
    },
) {
  return { kind: 'perform', operation, ...row } as const
}

/** Sends the browser somewhere else. Whoever only looks gets a page, if the action answers what it shows. */
export function redirect<Query extends TSchema | undefined = undefined, Seen = undefined>(
  operation: Operation,
  row: Common &
    Named &
    Refused & {
      readonly query?: Query
      readonly page?: (seen: Seen, visit: Visit) => Shown
      readonly action: (
        request: Request<undefined, QueryOf<Query>>,
      ) => Promise<Redirection | { readonly seen: Seen }>
    },
) {
  return { kind: 'redirect', operation, returns: nothing, status: 302, ...row } as const
}

const nothing = Type.Literal('')

/**
 * A row as mounting code and documentation see it: the generics were checked where the table is written.
 * `never` as a parameter accepts every row; only `services/api` calls these functions.
 */
export interface AnyRoute
  extends Common, Named, Within, Narrowed, Refused, Partial<Listing>, Partial<Pick<Rowed, 'streamOf'>> {
  readonly kind: 'create' | 'change' | 'show' | 'history' | 'list' | 'items' | 'perform' | 'redirect'
  readonly section?: Section
  readonly operation: Operation
  readonly returns: TSchema
  readonly body?: TSchema | undefined
  readonly query?: TObject | undefined
  readonly decider?: AnyDecider
  readonly command?: string
  readonly data?: ((body: never, context: never, params: never) => object) | undefined
  readonly prepare?: ((request: Asked<never>) => Promise<object>) | undefined
  readonly after?: (request: Asked<never>, outcome: Outcome<never>) => Promise<void>
  readonly identity?: (body: never, caller: Caller) => string | undefined
  readonly comesFirst?: (body: never) => boolean
  readonly from?: Documents<never> | Projection
  readonly order?: string
  readonly view?: (...args: never) => unknown
  readonly beside?: ((request: Asked, id: string, state: never) => unknown) | undefined
  readonly status?: 200 | 201 | 202 | 302
  readonly isChange?: true
  readonly creates?: {
    readonly decider: AnyDecider
    readonly view: (id: string, state: never) => unknown
  }
  readonly page?: (body: never, visit: Visit) => Shown | Promise<Shown>
  readonly items?: (request: never) => Promise<Slice<unknown>>
  readonly action?: (request: never) => Promise<unknown>
}
