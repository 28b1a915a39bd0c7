import type { AnyDecider, Context } from '../kernel/decider.ts'
import type { Outcome } from '../kernel/execution/options.ts'
import type { Owner, OwnerKind } from '../kernel/owner.ts'
import type { Documents, Projection, Row } from '../kernel/projection.ts'
import type { Admission, Caller } from './access/callers.ts'
import type { RefusalName } from './refusals.ts'
import type { Request } from './request.ts'
import type { Scope } from './access/scopes.ts'
import type { Static, TSchema } from './vocabulary.ts'

/** Exactly as in the specification, so that one search finds the row, the test and the spec. */
export type Operation = `${'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'} /${string}`

export type Location = `/${string}/{id}`

export type NamedExamples = Readonly<Record<string, { readonly summary: string; readonly value: unknown }>>

export type ActsFor = Owner & { readonly actor?: string }

/** What every row says. */
export interface Common extends Admission {
  readonly summary: string
  /** `public`: no credential. `own`: what is the caller's own, for which a credential is enough. */
  readonly scope: Scope | 'public' | 'own'
  /** Whose streams it is about, of all that a user may act for. Left out: the merchant's. */
  readonly owner?: Exclude<OwnerKind, 'platform'>
  /** Also for users who work for no merchant, or none any more. */
  readonly isForNonMembers?: true
  /**
   * For callers without an owner: the owner of what the path names, and who they are where the path says
   * that. Refused when there is none.
   */
  readonly actsFor?: (request: Pick<Request, 'params' | 'dependencies'>) => Promise<ActsFor>
  /** The specification gives only the number of operations in its family. */
  readonly inferred?: true
  /**
   * Spec, Authentication: the environment header is required. `sandbox only`: 404 in live. `either`: it is
   * about the merchant as a whole, so the header chooses nothing.
   */
  readonly environment?: 'required' | 'sandbox only' | 'either'
  /** Example bodies by name; by default the documentation makes one from the schema. */
  readonly examples?: NamedExamples
  /** Where the created resource can be read; by default below this operation's path. */
  readonly location?: Location
  /** The id of the stream that it is about, where the path does not name it: each caller has one. */
  readonly subject?: (caller: Caller) => string
  /** It creates the same things as that operation: they share their idempotency keys. */
  readonly twinOf?: Operation
  /**
   * Strangers may open what it creates by its id, which therefore cannot be computed from the idempotency
   * key.
   */
  readonly secretId?: true
  /** Strangers make us write or ask others by it: each address may do so less often than look. */
  readonly isCostly?: true
  /** The telephone that is asked to pay. However many strangers do that, it gets so many requests. */
  readonly prompts?: (body: never) => string | null | undefined
  /** The body may also come from a form of a page. */
  readonly form?: true
  /** Refusals in addition to those common to all operations of its kind. */
  readonly refusals?: readonly RefusalName[]
  /** The response shows a secret: it is stored sealed for repeats of its idempotency key. */
  readonly showsSecret?: true
  readonly idempotency?: 'required in live'
}

/** What each path parameter names: kinds of objects, with or without a prefix, or `text`. */
export interface Named {
  readonly params?: Readonly<Record<string, string | readonly string[]>>
}

/**
 * Whose parent the path names: the parameter, where parents are read, and the child's column that holds the
 * parent's id. 404 where the parent is missing or another one.
 */
export interface Within {
  readonly within?: { readonly param: string; readonly parent: Documents<never>; readonly column: string }
}

/**
 * Of the owner's objects only those whose columns hold these values: for this caller there are no others. One
 * of several values is enough.
 */
export interface Narrowed {
  readonly only?: (caller: Caller) => Readonly<Record<string, string | readonly string[]>>
}

/** The stream whose events say how a row of a read model across streams is now. */
export type RowStream = (row: Row) => { readonly decider: AnyDecider; readonly id: string }

/** A row of a read model across streams. */
export interface Rowed {
  readonly from: Projection
  readonly streamOf: RowStream
}

/** `beside` is what the row's `beside` has found. Nothing is shown of what is `undefined`. */
export type View<S, Returns extends TSchema, Beside> = (
  id: string,
  state: S,
  beside: Beside,
) => Static<Returns> | undefined

/** A request as `prepare`, `beside` and `after` see it; what its body holds only `prepare` has to know. */
export type Asked<Body = unknown> = Request<Body>

/** What the view shows beside the state of the stream: other streams, the time, an opened secret. */
export type Joins<S, Beside> = [Beside] extends [undefined]
  ? { readonly beside?: undefined }
  : { readonly beside: (request: Asked, id: string, state: S) => Beside | Promise<Beside> }

/**
 * Where the command comes from. `data` may be left out exactly when the request body is the command, field by
 * field. `prepare` looks at the world outside, and may write to other streams before: an action.
 */
export type Mapping<Body extends TSchema, Data, O extends Owner> =
  | { readonly data?: undefined; readonly prepare: (request: Asked<Static<Body>>) => Promise<Data> }
  | ([Static<Body>, keyof Static<Body>] extends [Data, keyof Data]
      ? { readonly data?: ToData<Body, Data, O>; readonly prepare?: undefined }
      : { readonly data: ToData<Body, Data, O>; readonly prepare?: undefined })

type ToData<Body extends TSchema, Data, O extends Owner> = (
  body: Static<Body>,
  context: Context<O>,
  params: Readonly<Record<string, string>>,
) => Data

/** What a policy would do a moment later is done before the answer, so that the next request sees it. */
export interface Following<S, Body extends TSchema> {
  readonly after?: (request: Asked<Static<Body>>, outcome: Outcome<S>) => Promise<void>
}

export interface Listing {
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
}

/** A page of a list that an action makes. Left out: it is the last one. */
export interface Slice<Item> {
  readonly data: Item[]
  readonly hasMore?: boolean
  readonly next?: string | null
}
