import type { MovedClock } from '../time/moved-clocks.ts'
import { ownerText, type MerchantOwner, type Owner } from '../owner.ts'

/** Ports for reading: read models, timers, and stored answers of idempotency keys. */

/** A row of a documents read model, with the columns that say whose it is. */
export type DocumentRow<O extends Owner = MerchantOwner> = O & Documented

interface Documented {
  readonly id: string
  readonly created: number
  readonly revision: number
  readonly position: number
  readonly state: unknown
}

export interface Where {
  readonly column: string
  readonly operator: '=' | '<' | '<=' | '>' | '>=' | 'ilike' | 'in'
  readonly value: string | number | boolean | readonly string[]
}

/** Conditions that columns equal these values: `equal(ownedBy(caller))`. */
export function equal(values: Readonly<Record<string, string | number | boolean>>): Where[] {
  return Object.entries(values).map(([column, value]) => ({ column, operator: '=', value }))
}

export interface PageQuery {
  readonly from: string
  /** The share this read counts against, where its cost depends on what the caller asks for. */
  readonly share?: string
  /** Left out: all. */
  readonly columns?: readonly string[]
  readonly where: readonly Where[]
  /** Bounds of the page: `count` ignores them. */
  readonly bounds?: readonly Where[]
  /** Sort column, descending by default; it must be unique. */
  readonly order: string
  readonly ascending?: boolean
  readonly limit: number
  /** Rows skipped, for the merchant routes' `page`. */
  readonly offset?: number
  readonly count?: boolean
}

/** The caller has too many reads in flight already: this one was not started. */
export class ShareExhaustedError extends Error {
  override readonly name = 'ShareExhaustedError'

  constructor() {
    super('too many reads of one share wait')
  }
}

/** A read was cancelled because it took too long. */
export class ReadTimeoutError extends Error {
  override readonly name = 'ReadTimeoutError'

  constructor(cause: unknown) {
    super('the read took too long', { cause })
  }
}

/** All of it as of one moment. */
export interface Page<Row> {
  readonly rows: readonly Row[]
  /** If the query counts: the number of rows on all pages. */
  readonly total?: number
  /** The read model's checkpoint. */
  readonly position: number
}

export interface ReadStore {
  /** One row of a documents read model. */
  document(name: string, id: string): Promise<DocumentRow<Owner> | undefined>
  /** Rows of any read model; bigint and numeric columns arrive as numbers, times as RFC 3339. */
  page<Row = Record<string, unknown>>(query: PageQuery): Promise<Page<Row>>
  /**
   * Waits until the read model of this name, or every one, has reached the position; false when time runs out
   * before.
   */
  reached(position: number, timeoutMs: number, name?: string): Promise<boolean>
  /** A position that every read model has certainly reached; usually they are slightly ahead. */
  readonly known: number
  /** The position that every read model has reached. */
  position(): Promise<number>
}

/** A due timer: a row of the read model `timers`. */
export type DueTimer<O extends Owner = MerchantOwner> = O & Due

interface Due {
  /** `<kind>:<subject>`. */
  readonly id: string
  readonly kind: string
  readonly subject: string
  readonly dueAt: string
  /** How often it has run without an event removing it. */
  readonly attempts: number
}

export interface WantedTimers {
  /** Others are ignored: a newer version knows what to do with them. Left out: all. */
  readonly kinds?: readonly string[]
  /**
   * Of these kinds only those of owners whose clocks are ahead, which run in order. What is due later of the
   * same subject, and of another kind, is not held up by it.
   */
  readonly except?: readonly string[]
  readonly ahead?: readonly MovedClock[]
  /** Left out: nothing is. */
  readonly heldUp?: HeldUp
}

/** Whose timers wait, because one of them is under way. */
export interface HeldUp {
  /** With all that is theirs: `<subject>.…`. */
  readonly subjects: readonly string[]
  /** Of these merchants the whole sandbox waits. */
  readonly merchants: readonly string[]
  /** Nothing of this kind of this owner, but where its clock is ahead. */
  readonly kindsOf: readonly KindOf[]
}

/** Timers of one kind and owner. */
export interface KindOf {
  readonly kind: string
  readonly owner: Owner
}

/** One text for each, for keys. */
export function kindOfText({ kind, owner }: KindOf): string {
  return `${kind} ${ownerText(owner)}`
}

export interface Timers {
  /**
   * Due timers, oldest first: at most this many that run for the first time, as many that were postponed
   * until now, and as many of merchants whose clock is ahead. What is not postponed before the next call is
   * due again.
   */
  due(now: Date, limit: number, wanted?: WantedTimers): Promise<readonly DueTimer<Owner>[]>
  /** Counts an attempt and runs the timer again later, unless an event removes it first. */
  postpone(timer: Pick<DueTimer, 'id' | 'dueAt'>, until: Date): Promise<void>
  /**
   * For timers that are handed out now and may end late: postpones none of them once another process may
   * have run it, even if its share has come back since.
   */
  asHeldNow(): Pick<Timers, 'postpone'>
}

/** Stored answers by idempotency key, for operations that do not start one stream. */
export type AnswerKey = Owner & {
  /** As in its row: `POST /api/v1/webhook-replays`. */
  readonly operation: string
  readonly key: string
}

export interface Answer {
  readonly status: number
  readonly body: unknown
}

export type AnswerState =
  /** The caller must carry it out. `isResumed`: an earlier try did not end and may have had effects. */
  | { readonly state: 'begun'; readonly isResumed: boolean }
  | { readonly state: 'running' }
  | { readonly state: 'done'; readonly fingerprint: string; readonly answer: Answer }
  | { readonly state: 'other_request' }

export interface Answers {
  begin(key: AnswerKey, fingerprint: string): Promise<AnswerState>
  finish(key: AnswerKey, answer: Answer): Promise<void>
  /** Refused: nothing has happened, and the next try starts over. */
  abandon(key: AnswerKey): Promise<void>
  /** Failed: it is unknown what has happened, and the next try resumes at once. */
  release(key: AnswerKey): Promise<void>
  /** What is known of a key, in all operations. */
  lookup(merchant: string, livemode: boolean, key: string): Promise<readonly KnownAnswer[]>
}

export interface KnownAnswer {
  readonly operation: string
  readonly status: 'running' | 'done'
  readonly httpStatus: number | null
  readonly body: unknown
  readonly startedAt: string
}
