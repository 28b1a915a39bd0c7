import type { AnyDecider, Context, Decider, Message, Payloads } from '../kernel/decider.ts'
import type { Envelope } from '../kernel/envelope.ts'
import type { Outcome } from '../kernel/executor-options.ts'
import type { Columns, Documents, Projection } from '../kernel/projection.ts'
import type { Dependencies } from './dependencies.ts'
import { History } from './history.ts'
import type { Owner, OwnerKind } from '../kernel/owner.ts'
import type { Admission, Caller } from './callers.ts'
import type { RefusalName } from './refusals.ts'
import type { Scope } from './scopes.ts'
import type { Section } from './section.ts'
import type { Static, TObject, TSchema } from './vocabulary.ts'

/** Exactly as in the specification, so that one search finds the row, the test and the spec. */
export type Operation = `${'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'} /${string}`

export type Location = `/${string}/{id}`

export type { Dependencies }

export interface SendOptions extends Pick<
  Envelope,
  'asOf' | 'isNew' | 'mustBeNew' | 'mustExist' | 'onConflict'
> {
  /**
   * The request sends this stream nothing else, so events with its idempotency key are all it does there, and
   * a try whose answer was lost is not repeated.
   */
  readonly isWhole?: true
}

/** What is known of the sender besides the credential. */
export interface Client {
  readonly address: string | null
  /** What it says it is. */
  readonly device: string | null
}

/** A request as an action sees it: authenticated, validated and normalised. */
export interface Request<Body = undefined, Query = object> {
  readonly caller: Caller
  /** For whom the caller acts: whose streams are read and written. */
  readonly owner: Owner
  /** As the client requested it. */
  readonly path: string
  readonly client: Client
  /** The id of what this request creates: derived from its idempotency key, else new. */
  readonly id: string
  /** UUIDs of the path, whatever their spelling; other parameters as they are. */
  readonly params: Readonly<Record<string, string>>
  readonly body: Body
  readonly query: Query
  readonly dependencies: Dependencies
  readonly envelope: Envelope
  /** Records a log position that the response reflects at least, sent as Ledger-Position. */
  showed(position: number): void
  /**
   * Notes the revision that the answer shows of the operation's subject, which is the ETag, and the log
   * position of its last event where that is known.
   */
  read(revision: number, position?: number): void
  /** Sends a command in the caller's name; the resulting position is sent as Ledger-Position. */
  send<S, C extends Payloads, E extends Payloads, O extends Owner>(
    decider: Decider<S, C, E, O>,
    id: string,
    command: Message<C>,
    options?: SendOptions,
  ): Promise<Outcome<S>>
}

export type NamedExamples = Readonly<Record<string, { readonly summary: string; readonly value: unknown }>>

interface Common extends Admission {
  readonly summary: string
  /** `public`: no credential. `own`: what is the caller's own, for which a credential is enough. */
  readonly scope: Scope | 'public' | 'own'
  /** Whose streams it is about, of all that a user may act for. Left out: the merchant's. */
  readonly owner?: Exclude<OwnerKind, 'platform'>
  /** For callers without an owner: the owner of what the path names. Refused when there is none. */
  readonly actsFor?: (request: Pick<Request, 'params' | 'dependencies'>) => Promise<Owner>
  /** The specification gives only the number of operations in its family. */
  readonly inferred?: true
  /** Spec, Authentication: the environment header is required. */
  readonly environment?: 'required'
  /** Example bodies by name; by default the documentation makes one from the schema. */
  readonly examples?: NamedExamples
  /** Where the created resource can be read; by default below this operation's path. */
  readonly location?: Location
  /** Its first command goes to its subject: `If-Match` can bind it to a revision. */
  readonly isChange?: true
  /** The id of the stream that it is about, where that is not `{id}` of the path. */
  readonly subject?: (caller: Caller) => string
  /** It creates the same things as that operation: they share their idempotency keys. */
  readonly twinOf?: Operation
  /** Refusals in addition to those common to all operations of its kind. */
  readonly refusals?: readonly RefusalName[]
}

/** What each path parameter names: kinds of objects, with or without a prefix, or `text`. */
interface Named {
  readonly params?: Readonly<Record<string, string | readonly string[]>>
}

type View<S, Returns extends TSchema> = (id: string, state: S) => Static<Returns> | undefined

/** `data` may be left out exactly when the request body is the command, field by field. */
type Mapping<Body extends TSchema, Data, O extends Owner> = [Static<Body>, keyof Static<Body>] extends [
  Data,
  keyof Data,
]
  ? { readonly data?: (body: Static<Body>, context: Context<O>) => Data }
  : { readonly data: (body: Static<Body>, context: Context<O>) => Data }

/** Starts a new stream with one command. Responds with 201 and the view of the new state. */
export function create<
  S,
  C extends Payloads,
  E extends Payloads,
  Type extends keyof C & string,
  Body extends TSchema,
  Returns extends TSchema,
  O extends Owner,
>(
  operation: Operation,
  row: Common & {
    readonly body: Body
    readonly returns: Returns
    readonly decider: Decider<S, C, E, O>
    readonly command: Type
    readonly view: View<S, Returns>
    /** Where the id follows from the body itself, so that the same thing twice is the same stream. */
    readonly identity?: (body: Static<Body>, caller: Caller) => string
  } & Mapping<Body, C[Type], O>,
) {
  return { kind: 'create', operation, ...row } as const
}

/** Sends one command to the stream named by `{id}`. Responds with 200 and the view of the new state. */
export function change<
  S,
  C extends Payloads,
  E extends Payloads,
  Type extends keyof C & string,
  Body extends TSchema,
  Returns extends TSchema,
  O extends Owner,
>(
  operation: Operation,
  row: Common &
    Named & {
      readonly body?: Body
      readonly returns: Returns
      readonly decider: Decider<S, C, E, O>
      readonly command: Type
      readonly view: View<S, Returns>
    } & Mapping<Body, C[Type], O>,
) {
  return { kind: 'change', operation, ...row } as const
}

/**
 * One row of a read model, brought up to date from its stream. 404 when there is none or it belongs to
 * another merchant.
 */
export function show<S, Returns extends TSchema>(
  operation: Operation,
  row: Common &
    Named & { readonly returns: Returns; readonly from: Documents<S>; readonly view: View<S, Returns> },
) {
  return { kind: 'show', operation, ...row } as const
}

/** Every event of what `show` shows, with time, actor and what it changed. */
export function history<S, Returns extends TSchema>(
  operation: Operation,
  row: Common &
    Named & { readonly shows: Returns; readonly from: Documents<S>; readonly view: View<S, Returns> },
) {
  const { shows: _, ...rest } = row
  return { kind: 'history', operation, ...rest, returns: History } as const
}

interface Listing {
  /** `page`: the merchant routes, which count; `cursor`: all others. */
  readonly paging: 'cursor' | 'page'
  /** Columns compared with the query parameter of the same name: `status=paid,failed`. */
  readonly filter?: Readonly<Record<string, TSchema>>
  /** Columns bounded by query parameters: `amount[gte]=5000`. */
  readonly ranges?: Readonly<Record<string, TSchema>>
  /** Query parameters `from` and `to` bound this column. */
  readonly period?: string
  /** Query parameter `search` searches this column. */
  readonly search?: string
  /** The parent named by a path parameter (404 without it), and the column that holds its id. */
  readonly within?: { readonly param: string; readonly parent: Documents<never>; readonly column: string }
}

/** Pages, filters and sorts one read model, newest first. */
export function list<S, Returns extends TSchema>(
  operation: Operation,
  row: Common &
    Named &
    Listing & { readonly returns: Returns; readonly from: Documents<S>; readonly view: View<S, Returns> },
) {
  return { kind: 'list', operation, ...row } as const
}

/** The same for a read model across streams, whose rows are shown as they are. */
export function listRows<Returns extends TSchema>(
  operation: Operation,
  row: Common &
    Named &
    Listing & {
      readonly returns: Returns
      readonly from: Projection
      readonly order: string
      readonly view: (row: Readonly<Record<keyof Columns, unknown>>) => Static<Returns>
    },
) {
  return { kind: 'list', operation, ...row } as const
}

/** Anything else: one named function in `services/api/actions/<family>.ts`. */
export function perform<
  Returns extends TSchema,
  Body extends TSchema | undefined = undefined,
  Query extends TSchema | undefined = undefined,
>(
  operation: Operation,
  row: Common &
    Named & {
      readonly body?: Body
      readonly query?: Query
      readonly returns: Returns
      readonly status?: 200 | 201 | 202
      readonly idempotency?: 'required in live'
      /**
       * The action starts this stream with the request's own id: a repeated idempotency key is answered from
       * the stream's first events. Without this, the response of a keyed request is stored.
       */
      readonly creates?: {
        readonly decider: AnyDecider
        readonly view: (id: string, state: never) => Static<Returns> | undefined
        /**
         * True when the action sends this stream's command first and only to a new stream: then a repeat
         * fails without a trace, and repeats are rare. For all others the stream is read first.
         */
        readonly comesFirst?: (body: Body extends TSchema ? Static<Body> : undefined) => boolean
      }
      /** The response shows a secret: it is stored sealed for repeats of its idempotency key. */
      readonly showsSecret?: true
      /** Shown to browsers instead of JSON. */
      readonly page?: (body: Static<Returns>) => string
      readonly action: (
        request: Request<
          Body extends TSchema ? Static<Body> : undefined,
          Query extends TSchema ? Static<Query> : Readonly<Record<string, never>>
        >,
      ) => Promise<Static<Returns>>
    },
) {
  return { kind: 'perform', operation, ...row } as const
}

/**
 * A row as mounting code and documentation see it: the generics were checked where the table is written.
 * `never` as a parameter accepts every row; only `services/api` calls these functions.
 */
export interface AnyRoute extends Common, Named, Partial<Listing> {
  readonly kind: 'create' | 'change' | 'show' | 'history' | 'list' | 'perform'
  readonly section?: Section
  readonly operation: Operation
  readonly returns: TSchema
  readonly body?: TSchema | undefined
  readonly query?: TObject | undefined
  readonly decider?: AnyDecider
  readonly command?: string
  readonly data?: (body: never, context: never) => object
  readonly identity?: (body: never, caller: Caller) => string
  readonly from?: Documents<never> | Projection
  readonly order?: string
  readonly view?: (...args: never) => unknown
  readonly status?: 200 | 201 | 202
  readonly idempotency?: 'required in live'
  readonly showsSecret?: true
  readonly creates?: {
    readonly decider: AnyDecider
    readonly view: (id: string, state: never) => unknown
    readonly comesFirst?: (body: never) => boolean
  }
  readonly page?: (body: never) => string
  readonly action?: (request: never) => Promise<unknown>
}
