import type { Cause, Context, SenderSession } from './decider.ts'
import { ownerOf, type Owner } from './owner.ts'
import type { EventMetadata } from './ports.ts'

/** Who sends a command, for which owner and why: becomes the metadata of the resulting events. */
export type Envelope<O extends Owner = Owner> = O & Sending

interface Sending {
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
  /** See `Context`; it is not stored. */
  readonly inSession?: SenderSession
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

/** The same sender in the name of another owner, for streams that the service keeps about what is theirs. */
export function actingFor<O extends Owner>(owner: O, envelope: Envelope): Envelope<O> {
  const { actor, correlation, request, traceparent, inSession } = envelope
  // Only its own fields are left of the owner, which a generic type cannot say.
  return Object.assign(ownerOf(owner as Owner) as O, {
    actor,
    correlation,
    ...(request && { request }),
    ...(traceparent && { traceparent }),
    ...(inSession && { inSession }),
  })
}

/** What a decision may know about the sender. */
export function contextOf(id: string, envelope: Envelope, now: Date): Context<Owner> {
  const { cause, asOf, inSession } = envelope
  const known = cause && { cause: { policy: cause.policy, position: cause.position } }
  return Object.assign(ownerOf(envelope), {
    id,
    now,
    ...known,
    ...(asOf !== undefined && { asOf }),
    ...(inSession && { inSession }),
  })
}

interface Stamp {
  /** Version of the event's schema. */
  readonly version: number
  readonly now: Date
  readonly salt: string
}

/** What is stored beside an event. */
export function metadataOf(envelope: Envelope, { version, now, salt }: Stamp): EventMetadata {
  const { actor, correlation, request, traceparent } = envelope
  const { idempotencyKey, fingerprint, cause } = envelope
  return Object.assign(ownerOf(envelope), {
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
  })
}
