/** What the service needs from the outside. Each port has adapters in `infra/`, and one suite that all adapters of it pass. */

// Events

/** Who did it, for whom, and why: stored beside each event, the same for all kinds. */
export interface EventMetadata {
  readonly merchant: string
  readonly livemode: boolean
  /** `key:<id>`, `policy:<name>`, `timer`, `rail`, `cli`. */
  readonly actor: string
  /** RFC 3339 with milliseconds. */
  readonly at: string
  /** Version of the event's schema. */
  readonly version: number
  readonly correlation: string
  readonly request?: string
  readonly traceparent?: string
  readonly idempotencyKey?: string
  /** SHA-256 of the request that carried the idempotency key. */
  readonly fingerprint?: string
  readonly causation?: { readonly event: string; readonly position: number; readonly policy: string }
}

export interface NewEvent {
  readonly id: string
  readonly type: string
  readonly data: object
  readonly metadata: EventMetadata
}

export interface StoredEvent extends NewEvent {
  readonly stream: string
  /** 0 is the stream's first event. */
  readonly revision: number
  /** Grows along the whole log, in the order in which events become visible; not without gaps. A safe integer. */
  readonly position: number
}

/** The revision that a stream without events has. */
export const noStream = -1

export interface Appended {
  /** Revision of the last event appended. */
  readonly revision: number
  /** Position of the last event appended. */
  readonly position: number
}

export interface LogFilter {
  /** Only streams of these categories. Left out: all. */
  readonly categories?: readonly string[]
}

export interface SubscriptionOptions extends LogFilter {
  /** Events behind this position; 0 for all. */
  readonly after: number
  /** At most so many events are handed over at once. */
  readonly batchSize: number
  /**
   * Called for one batch after the other, never concurrently, in the order of the log. `through` is the position up to which
   * nothing is left out, so it may be kept as the checkpoint even when a filter dropped the last events.
   * When it rejects, the same batch comes again after a pause.
   */
  readonly handle: (batch: readonly StoredEvent[], through: number) => Promise<void>
  readonly onError?: (error: unknown) => void
}

export interface Subscription {
  /** Stops after the batch in hand. */
  close(): Promise<void>
}

export interface EventStore {
  /**
   * Appends all events or none. `expected` is the revision of the stream's last event, or `noStream`.
   * Throws VersionConflict when the stream is elsewhere, OutcomeUnknown when nobody can tell whether the events were written.
   */
  append(stream: string, expected: number, events: readonly NewEvent[]): Promise<Appended>
  /** Events of one stream from a revision on, oldest first; an empty list for an unknown stream. At most `limit`, default all. */
  readStream(stream: string, from: number, limit?: number): Promise<readonly StoredEvent[]>
  /** The next events of the log behind a position, oldest first. */
  readAll(after: number, limit: number, filter?: LogFilter): Promise<readonly StoredEvent[]>
  /** Position of the newest event of the log, 0 when there is none. */
  head(): Promise<number>
  subscribe(options: SubscriptionOptions): Subscription
  /** Throws when the store cannot be reached. */
  ping(): Promise<void>
  close(): Promise<void>
}

export class VersionConflict extends Error {
  override readonly name = 'VersionConflict'
  readonly stream: string
  readonly expected: number

  constructor(stream: string, expected: number) {
    super(`${stream} is not at revision ${expected}`)
    this.stream = stream
    this.expected = expected
  }
}

/** The connection broke or time ran out after the events were sent: they may have been written. */
export class OutcomeUnknown extends Error {
  override readonly name = 'OutcomeUnknown'

  constructor(stream: string, cause: unknown) {
    super(`it is not known whether the append to ${stream} happened`, { cause })
  }
}

/** The store takes no more appends now, because too many wait or its server is gone: nothing of this one was written. */
export class StoreOverloaded extends Error {
  override readonly name = 'StoreOverloaded'

  constructor(stream: string, cause?: unknown) {
    super(`the append to ${stream} was not accepted`, { cause })
  }
}

export interface Snapshot {
  readonly revision: number
  readonly state: unknown
}

/** Snapshots only save reading: losing them loses nothing. */
export interface Snapshots {
  load(stream: string, version: number): Promise<Snapshot | undefined>
  save(stream: string, version: number, snapshot: Snapshot): Promise<void>
}

// Read models

export interface DocumentRow {
  readonly id: string
  readonly merchant: string
  readonly livemode: boolean
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

export interface PageQuery {
  readonly from: string
  readonly where: readonly Where[]
  /** Ordered by this column, descending unless said otherwise; it must be unique. */
  readonly order: string
  readonly ascending?: boolean
  readonly limit: number
  /** Rows skipped, for the merchant routes' `page`. */
  readonly offset?: number
  readonly count?: boolean
}

export interface ReadStore {
  /** One row of a documents read model. */
  document(name: string, id: string): Promise<DocumentRow | undefined>
  /** Rows of any read model; bigint and numeric columns arrive as numbers, times as RFC 3339. */
  page<Row = Record<string, unknown>>(query: PageQuery): Promise<{ readonly rows: readonly Row[]; readonly total?: number }>
  /** Waits until every read model has reached the position; false when time runs out before. */
  reached(position: number, timeoutMs: number): Promise<boolean>
  /** What every read model has reached. */
  position(): Promise<number>
}

/** What is due: rows of the read model `timers`. */
export interface DueTimer {
  /** `<kind>:<subject>`. */
  readonly id: string
  readonly kind: string
  readonly subject: string
  readonly merchant: string
  readonly livemode: boolean
  readonly dueAt: string
  /** How often it has been run without an event that removed it. */
  readonly attempts: number
}

export interface Timers {
  /** What is due now, oldest first. */
  due(now: Date, limit: number): Promise<readonly DueTimer[]>
  /** Counts an attempt and runs the timer again later, unless an event removes it before. */
  postpone(timer: Pick<DueTimer, 'id' | 'dueAt'>, until: Date): Promise<void>
  /** Forgets the attempts of timers that are gone. */
  sweep(): Promise<void>
}

// Messages

/** A public event as the merchant gets it; `payload` holds the exact bytes of the webhook body. */
export interface PublicEvent {
  /** `evt_` and 32 hex digits. */
  readonly id: string
  readonly type: string
  readonly merchant: string
  readonly livemode: boolean
  /** `payout/<uuid>`: messages of one resource stay in order. */
  readonly resource: string
  /** Position of the event in the log. */
  readonly sequence: number
  readonly payload: string
}

/** Events that an endpoint may be sent again, when it is asked for all that it missed. */
export interface MissedEvents {
  /** UUID. */
  readonly endpoint: string
  readonly merchant: string
  readonly livemode: boolean
  readonly types: readonly string[]
  /** RFC 3339. */
  readonly since: string
  /** Only events behind this position of the log: the endpoint's registration. */
  readonly after: number
  readonly through: number
}

/** All public events that were ever made, whether an endpoint got them or not. */
export interface PublicEvents {
  /** An event of this merchant and environment. */
  find(id: string, owner: Pick<PublicEvent, 'merchant' | 'livemode'>): Promise<PublicEvent | undefined>
  countMissed(missed: MissedEvents): Promise<number>
  /** The next events of a merchant and environment behind a sequence, oldest first. */
  feed(query: FeedQuery): Promise<readonly PublicEvent[]>
}

export interface FeedQuery {
  readonly merchant: string
  readonly livemode: boolean
  readonly after: number
  /** Left out: all types. */
  readonly types?: readonly string[] | undefined
  readonly limit: number
}

export interface EventBus {
  /** Resolves when the bus keeps the messages; they may be published again after a failure. */
  publish(events: readonly PublicEvent[]): Promise<void>
  /** Hands over batches in order per resource; a batch whose handler rejects comes again. */
  subscribe(group: string, handle: (events: readonly PublicEvent[]) => Promise<void>): Promise<Subscription>
  close(): Promise<void>
}

// The outside world

export type RailMethod =
  | { readonly type: 'mobile_money'; readonly country: string; readonly operator: string; readonly msisdn: string }
  | { readonly type: 'card'; readonly token: string }
  | { readonly type: 'bank'; readonly bankCode: string; readonly accountNumber: string; readonly accountName: string }

export interface RailRequest {
  /** Ours, unique per operation: the payout's id, the confirmation attempt's id, the refund's id. A rail executes it at most once. */
  readonly reference: string
  readonly kind: 'collection' | 'disbursement' | 'refund'
  readonly merchant: string
  readonly livemode: boolean
  readonly amountMinor: number
  readonly currency: string
  readonly method: RailMethod
  /** Where a payer's browser is sent back to, when the rail redirects. */
  readonly returnUrl?: string
}

export type RailState =
  /** The operator guarantees that it has not executed and will not execute this reference. */
  | { readonly state: 'never_received' }
  | { readonly state: 'pending' }
  | { readonly state: 'redirect'; readonly url: string }
  | { readonly state: 'succeeded' }
  | { readonly state: 'failed'; readonly code: string; readonly message: string }
  /** Money came back after it had arrived. */
  | { readonly state: 'returned' }

export interface RailCallback {
  readonly reference: string
  readonly kind: RailRequest['kind']
  readonly merchant: string
  readonly livemode: boolean
  readonly result: RailState
}

/** The call was made, but the rail did not answer in time: it may have been executed. */
export class RailTimeout extends Error {
  override readonly name = 'RailTimeout'
}

/** The rail said before doing anything that it does nothing now. */
export class RailUnavailable extends Error {
  override readonly name = 'RailUnavailable'
}

export interface PaymentRail {
  /** Throws RailTimeout (outcome unknown) or RailUnavailable (surely not executed). */
  submit(request: RailRequest): Promise<RailState>
  /** What became of a reference. Throws RailTimeout when the operator does not answer. */
  status(reference: string): Promise<RailState>
  health(method: RailMethod): Promise<'up' | 'degraded' | 'down'>
  /** Callbacks come at least once, in any order; one whose handler rejects comes again. */
  onCallback(handle: (callback: RailCallback) => Promise<void>): Subscription
}

/** What only the simulated operators have: a way to play the operator. */
export interface SandboxRail extends PaymentRail {
  /** Ends an operation as asked, without a callback; what the operator then reports is the same. */
  resolve(reference: string, result: RailState): Promise<void>
}

/** Answers kept for idempotency keys of operations that do not start one stream. */
export interface AnswerKey {
  readonly merchant: string
  readonly livemode: boolean
  /** As the row spells it: `POST /api/v1/webhook-replays`. */
  readonly operation: string
  readonly key: string
}

export interface Answer {
  readonly status: number
  readonly body: unknown
}

export type AnswerState =
  /** Nobody has asked before, or the one who did has died: it is now the caller's to carry out. */
  | { readonly state: 'begun' }
  | { readonly state: 'running' }
  | { readonly state: 'done'; readonly fingerprint: string; readonly answer: Answer }
  | { readonly state: 'other_request' }

export interface Answers {
  begin(key: AnswerKey, fingerprint: string): Promise<AnswerState>
  finish(key: AnswerKey, answer: Answer): Promise<void>
  /** Refused or failed: the next try starts over. */
  abandon(key: AnswerKey): Promise<void>
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

export interface Mail {
  readonly to: string
  readonly subject: string
  readonly text: string
}

export interface Mailer {
  send(mail: Mail): Promise<void>
}

/** Encrypts secrets at rest. */
export interface Vault {
  /** `context` must be the same when it is opened: a sealed secret cannot be moved to another owner. */
  seal(secret: string, context: string): string
  open(sealed: string, context: string): string
}

export interface Log {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

export type Clock = () => Date
export type NewId = () => string
