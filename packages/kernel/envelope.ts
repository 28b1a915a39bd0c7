import type { Cause, Context } from './decider.ts'
import type { MerchantOwner } from './owner.ts'
import type { EventMetadata } from './ports.ts'

/** Who sends a command, for which owner and why: becomes the metadata of the resulting events. */
export interface Envelope extends MerchantOwner {
  /** `key:<id>`, `policy:<name>`, `timer`, `rail`, `cli`. */
  readonly actor: string
  readonly correlation: string
  readonly request?: string
  readonly traceparent?: string
  readonly idempotencyKey?: string
  readonly fingerprint?: string
  readonly cause?: Cause & { readonly event: string }
  /** See `Context`. */
  readonly asOf?: number
  /**
   * The stream is probably empty, because its id is new or derived from an idempotency key, and few keys are
   * repeated. So it is not read first; a wrong guess costs a second try.
   */
  readonly isNew?: boolean
  /** The same, and a stream with events is refused as changed meanwhile. */
  readonly mustBeNew?: boolean
  /** A stream without events is refused as not found. */
  readonly mustExist?: boolean
  /** A stream at another revision is refused: the caller has not seen it. */
  readonly ifRevision?: number
  /** `refuse`: a version conflict is returned at once instead of deciding again. */
  readonly onConflict?: 'retry' | 'refuse'
}

/** What a decision may know about the sender. */
export function contextOf(id: string, { merchant, livemode, cause, asOf }: Envelope, now: Date): Context {
  const known = cause && { cause: { policy: cause.policy, position: cause.position } }
  return { id, merchant, livemode, now, ...known, ...(asOf !== undefined && { asOf }) }
}

interface Stamp {
  /** Version of the event's schema. */
  readonly version: number
  readonly now: Date
  readonly salt: string
}

/** What is stored beside an event. */
export function metadataOf(envelope: Envelope, { version, now, salt }: Stamp): EventMetadata {
  const { merchant, livemode, actor, correlation, request, traceparent, ...more } = envelope
  const { idempotencyKey, fingerprint, cause } = more
  return {
    merchant,
    livemode,
    actor,
    correlation,
    version,
    at: now.toISOString(),
    salt,
    ...(request && { request }),
    ...(traceparent && { traceparent }),
    ...(idempotencyKey && { idempotencyKey }),
    ...(fingerprint && { fingerprint }),
    ...(cause && { causation: cause }),
  }
}
