/**
 * What the service needs from the outside. Each port has adapters in `infra/`, and a test suite that all its
 * adapters pass.
 */

import type { Owner } from './owner.ts'

// Events

/** Who did it, for which owner and why: stored beside each event, the same for all kinds. */
export type EventMetadata<O extends Owner = Owner> = O & Recording

interface Recording {
  /** `key:<id>`, `policy:<name>`, `timer`, `rail`, `cli`. */
  readonly actor: string
  /** RFC 3339 with milliseconds. */
  readonly at: string
  /** Version of the event's schema. */
  readonly version: number
  readonly correlation: string
  /**
   * 16 random bytes in base64url, so that a digest of the event reveals nothing about it. Missing in the
   * first format.
   */
  readonly salt?: string
  readonly sealed?: SealedData
  readonly request?: string
  readonly traceparent?: string
  readonly idempotencyKey?: string
  /** HMAC of the request that carried the idempotency key; older versions kept a plain SHA-256. */
  readonly fingerprint?: string
  readonly causation?: { readonly event: string; readonly position: number; readonly policy: string }
}

/** An event's personal fields, sealed with the key of their subject. The nonce is a prefix of the salt. */
export interface SealedData {
  readonly key: string
  /** AES-256-GCM, ciphertext and tag in base64url. */
  readonly box: string
  /**
   * SHA-256 over a secret that only the key yields and the content of the box: anyone who is shown both can
   * check that this content was sealed. Boxes from before there were receipts have none.
   */
  readonly digest?: string
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
  /** Grows along the whole log, in the order in which events become visible, with gaps. A safe integer. */
  readonly position: number
  /** Why its personal fields are missing, thrown by whoever needs the event. Left out: nothing is missing. */
  readonly damage?: DamagedStreamError
  /** Whether its personal fields are erased: read before, it said more. */
  readonly isErased?: true
}

/** The revision of a stream without events. */
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
  /** Events after this position; 0 for all. */
  readonly after: number
  /** The most events handed over at once. */
  readonly batchSize: number
  /**
   * While events keep coming, live batches start at most this often, so that each carries many. The first
   * event after a quiet time is not delayed. Left out: as often as the handler allows.
   */
  readonly everyMs?: number
  /**
   * Called for one batch at a time, in log order. Everything up to `through` has been handed over, so it may
   * be stored as the checkpoint even when a filter dropped the last events. When it rejects, the same batch
   * comes again after a pause.
   */
  readonly handle: (batch: readonly StoredEvent[], through: number) => Promise<void>
  readonly onError?: (error: unknown) => void
}

export interface Subscription {
  /** Stops after the current batch. */
  close(): Promise<void>
}

export interface EventStore {
  /**
   * Appends all events or none. `expected` is the revision of the stream's last event, or `noStream`. Throws
   * VersionConflictError when the stream is elsewhere, OutcomeUnknownError when it is unknown whether the
   * events were written.
   */
  append(stream: string, expected: number, events: readonly NewEvent[]): Promise<Appended>
  /**
   * Events of one stream from a revision on, oldest first; an empty list for an unknown stream. At most
   * `limit`, default all. Throws DamagedStreamError when the store does not return all of them.
   */
  readStream(stream: string, from: number, limit?: number): Promise<readonly StoredEvent[]>
  /** The next events of the log after a position, oldest first. */
  readAll(after: number, limit: number, filter?: LogFilter): Promise<readonly StoredEvent[]>
  /** The event at exactly this position, which some event has told. */
  readAt(position: number): Promise<StoredEvent | undefined>
  /**
   * The log after a position until its end, oldest first and in pieces, for long reads: the next piece is
   * read while the caller works on this one.
   */
  readOn(after: number): AsyncGenerator<readonly StoredEvent[], void>
  /** Position of the newest event of the log, 0 when there is none. */
  head(): Promise<number>
  subscribe(options: SubscriptionOptions): Subscription
  /**
   * Streams that are not as this service has written them: deleted, truncated, hidden, or written to by
   * others. The last kind is only known as far as the log was read since the store was opened.
   */
  irregularities(): Promise<readonly Irregularity[]>
  counts(): StoreCounts
  /** Throws when the store cannot be reached. */
  ping(): Promise<void>
  close(): Promise<void>
}

export interface Irregularity {
  /** Its name; in the last one, how many more there are that are not named. */
  readonly stream: string
  /** What is wrong with it, as the end of a sentence that starts with its name. */
  readonly problem: string
}

/** Counts since the store was opened. */
export interface StoreCounts {
  /** Events in our streams that this service has not written. */
  readonly eventsPassedOver: number
  /** How often the server stopped sending new events, because this process was too slow to take them. */
  readonly timesCutOff: number
}

export class VersionConflictError extends Error {
  override readonly name = 'VersionConflictError'
  readonly stream: string
  readonly expected: number

  constructor(stream: string, expected: number) {
    super(`${stream} is not at revision ${expected}`)
    this.stream = stream
    this.expected = expected
  }
}

/** The connection broke or time ran out after the events were sent: they may have been written. */
export class OutcomeUnknownError extends Error {
  override readonly name = 'OutcomeUnknownError'

  constructor(stream: string, cause: unknown) {
    super(`it is not known whether the append to ${stream} happened`, { cause })
  }
}

/**
 * The store accepts no more appends now, because too many are waiting or its server is gone: nothing of this
 * one was written.
 */
export class StoreOverloadedError extends Error {
  override readonly name = 'StoreOverloadedError'

  constructor(stream: string, cause?: unknown) {
    super(`the append to ${stream} was not accepted`, { cause })
  }
}

/** The store takes no append of this size, and nothing was written: fewer events at once may pass. */
export class AppendTooLargeError extends Error {
  override readonly name = 'AppendTooLargeError'

  constructor(stream: string, reason: string) {
    super(`an append to ${stream} is too large: ${reason}`)
  }
}

/** The store cannot be reached now; the request itself was fine. */
export class StoreAwayError extends Error {
  override readonly name: string = 'StoreAwayError'
  /** False when waiting does not help, because a setting must be changed. */
  readonly mayPass: boolean = true

  constructor(cause: unknown) {
    super(`the event store cannot be reached: ${cause instanceof Error ? cause.message : String(cause)}`, {
      cause,
    })
  }
}

/**
 * The store does not return the whole history of a stream: nothing may be decided on it or appended to it.
 */
export class DamagedStreamError extends Error {
  override readonly name = 'DamagedStreamError'
  readonly stream: string

  constructor({ stream, problem }: Irregularity) {
    super(`${stream} ${problem}`)
    this.stream = stream
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

// Surroundings

export interface Mail {
  readonly to: string
  readonly subject: string
  readonly text: string
  /** The same for mail programs that show more. */
  readonly html?: string
}

export interface Mailer {
  /**
   * Resolves when the mail server has accepted the mail. Rejects with MailRefusedError when it never will.
   */
  send(mail: Mail): Promise<void>
}

/** The mail server does not accept this mail, and would not if it were sent again. */
export class MailRefusedError extends Error {
  override readonly name = 'MailRefusedError'
}

/** The mail server wants this mail later, as of a full mailbox; it may take others now. */
export class MailDeferredError extends Error {
  override readonly name = 'MailDeferredError'
}

/** Encrypts secrets at rest. */
export interface Vault {
  /** `context` must be the same when opened: a sealed secret cannot be moved to another owner. */
  seal(secret: string, context: string): string
  /** Seals many secrets in turn under the master key that is current now. */
  sealer(): Vault['seal']
  open(sealed: string, context: string): string
}

/** Encrypts numbers so that they reveal nothing, not even which of two is greater. */
export interface OpaqueNumbers {
  /** `context` is its purpose: it can be opened for no other. */
  seal(value: number, context: string): string
  open(text: string, context: string): number | undefined
}

export interface Log {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
  /** Whether such lines are written at all, for whoever has thousands of them a second. */
  isLevelEnabled?(level: 'info'): boolean
}

/** The time, in general or of one owner, whose sandbox clock may be ahead. */
export type Clock = (owner?: Owner) => Date
export type NewId = () => string

/** Does the work while nobody else does any of this name; `undefined` where somebody does, or too many do. */
export type Exclusively = <Result>(name: string, work: () => Promise<Result>) => Promise<Result | undefined>
