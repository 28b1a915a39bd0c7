/**
 * What the service needs from the outside. Each port has adapters in `infra/`, and one suite that all
 * adapters of it pass.
 */

import type { MerchantOwner } from './owner.ts'

// Events

/** Who did it, for whom, and why: stored beside each event, the same for all kinds. */
export interface EventMetadata extends MerchantOwner {
  /** `key:<id>`, `policy:<name>`, `timer`, `rail`, `cli`. */
  readonly actor: string
  /** RFC 3339 with milliseconds. */
  readonly at: string
  /** Version of the event's schema. */
  readonly version: number
  readonly correlation: string
  /** 16 random bytes in base64url: a digest of the event tells nothing of it. The first format has none. */
  readonly salt?: string
  readonly sealed?: SealedData
  readonly request?: string
  readonly traceparent?: string
  readonly idempotencyKey?: string
  /** SHA-256 of the request that carried the idempotency key. */
  readonly fingerprint?: string
  readonly causation?: { readonly event: string; readonly position: number; readonly policy: string }
}

/** What is personal in an event, sealed with a key of its subject. The nonce is the beginning of the salt. */
export interface SealedData {
  readonly key: string
  /** AES-256-GCM, ciphertext and tag in base64url. */
  readonly box: string
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
  /**
   * Grows along the whole log, in the order in which events become visible; not without gaps. A safe integer.
   */
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
   * While events keep coming, a batch of what is newest begins at most this often, so that it carries many.
   * The first event after a quiet time waits for nothing. Left out: as often as the handler allows.
   */
  readonly everyMs?: number
  /**
   * Called for one batch after the other, never concurrently, in the order of the log. `through` is the
   * position up to which nothing is left out, so it may be kept as the checkpoint even when a filter dropped
   * the last events. When it rejects, the same batch comes again after a pause.
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
   * Throws VersionConflictError when the stream is elsewhere, OutcomeUnknownError when nobody can tell
   * whether the events were written.
   */
  append(stream: string, expected: number, events: readonly NewEvent[]): Promise<Appended>
  /**
   * Events of one stream from a revision on, oldest first; an empty list for an unknown stream. At most
   * `limit`, default all. Throws DamagedStreamError when the store does not show all of them.
   */
  readStream(stream: string, from: number, limit?: number): Promise<readonly StoredEvent[]>
  /** The next events of the log behind a position, oldest first. */
  readAll(after: number, limit: number, filter?: LogFilter): Promise<readonly StoredEvent[]>
  /**
   * The log behind a position until its end, oldest first and piece by piece, for long reads: what comes next
   * is read while somebody works on a piece.
   */
  readOn(after: number): AsyncGenerator<readonly StoredEvent[], void>
  /** Position of the newest event of the log, 0 when there is none. */
  head(): Promise<number>
  subscribe(options: SubscriptionOptions): Subscription
  /**
   * Streams that are not as this service has written them: deleted, cut, hidden, or written to by others. Of
   * the last, those that reads of the log have passed over since this store was opened.
   */
  irregularities(): Promise<readonly Irregularity[]>
  counts(): StoreCounts
  /** Throws when the store cannot be reached. */
  ping(): Promise<void>
  close(): Promise<void>
}

export interface Irregularity {
  readonly stream: string
  /** What is wrong with it, as the end of a sentence that its name begins. */
  readonly problem: string
}

/** Since the store was opened. */
export interface StoreCounts {
  /** Events in streams of ours that this service has not written. */
  readonly eventsPassedOver: number
  /** How often the server stopped sending new events, because this process was too busy to take them. */
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
 * The store takes no more appends now, because too many wait or its server is gone: nothing of this one was
 * written.
 */
export class StoreOverloadedError extends Error {
  override readonly name = 'StoreOverloadedError'

  constructor(stream: string, cause?: unknown) {
    super(`the append to ${stream} was not accepted`, { cause })
  }
}

/** The store cannot be reached now; nothing is wrong with what was asked of it. */
export class StoreAwayError extends Error {
  override readonly name: string = 'StoreAwayError'
  /** False when no wait will help, because somebody has to change a setting. */
  readonly mayPass: boolean = true

  constructor(cause: unknown) {
    super(`the event store cannot be reached: ${cause instanceof Error ? cause.message : String(cause)}`, {
      cause,
    })
  }
}

/** The store does not show the whole history of a stream: nothing may be decided on it or added to it. */
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
}

export interface Mailer {
  /** Resolves when the mail server has taken the mail. Rejects with MailRefusedError when it never will. */
  send(mail: Mail): Promise<void>
}

/** The mail server does not take this mail, also when it is sent again. */
export class MailRefusedError extends Error {
  override readonly name = 'MailRefusedError'
}

/** Encrypts secrets at rest. */
export interface Vault {
  /** `context` must be the same when it is opened: a sealed secret cannot be moved to another owner. */
  seal(secret: string, context: string): string
  open(sealed: string, context: string): string
}

/** Numbers as texts that tell others nothing, not even which of two is greater. */
export interface OpaqueNumbers {
  /** `context` is what it is for: it can be opened for nothing else. */
  seal(value: number, context: string): string
  open(text: string, context: string): number | undefined
}

export interface Log {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

/** Everybody's time, or that of an owner, which merchants move forward in the sandbox. */
export type Clock = (owner?: MerchantOwner) => Date
export type NewId = () => string
