import type { Envelope } from '../envelope.ts'
import type { MovedClocks } from '../time/moved-clocks.ts'
import type { Owner } from '../owner.ts'
import type { Clock, EventStore, Log, NewId, Snapshots } from '../ports.ts'

export interface Outcome<State> {
  readonly id: string
  /** The state after this command; for a decider that modifies its state in place, the current state. */
  readonly state: State
  /** Revision of the stream after this command. */
  readonly revision: number
  /** Position of the last event appended, 0 when none was needed. */
  readonly position: number
  /** How many events this command appended; 0 means that the history already contained its effect. */
  readonly appended: number
}

export interface PendingCommand {
  readonly command: { readonly type: string; readonly data: object }
  readonly envelope: Envelope
}

/**
 * Refusals raised by the kernel itself. The caller provides them, because refusals are part of the contract.
 */
export interface Refuse {
  readonly notFound: (stream: string) => Error
  readonly changedMeanwhile: (stream: string) => Error
  readonly otherRevision: (stream: string) => Error
  readonly overloaded: (stream: string) => Error
}

export interface Remembered {
  readonly state: unknown
  readonly revision: number
  /** Of its last event; left out when that is not known. */
  readonly position: number | undefined
  readonly owner: Owner
}

export interface ExecutorOptions {
  readonly store: EventStore
  readonly snapshots: Snapshots
  readonly clock: Clock
  /** Awaited before a decision: see `MovedClocks`. Left out: no clock is ever moved. */
  readonly knowsTime?: MovedClocks['known']
  readonly newId: NewId
  /** 16 random bytes in base64url. */
  readonly newSalt: () => string
  readonly log: Log
  readonly refuse: Refuse
  readonly pause: (delayMs: number) => Promise<void>
  /** Streams whose state is cached. */
  readonly streamsMax?: number
}

/** A stream's state between two commands. */
export interface KnownState {
  state: unknown
  revision: number
  /** Of its last event; undefined when that was not read. */
  position: number | undefined
  /** The owner, by its first event. */
  owner: Owner | undefined
  /** Cached from an earlier round: another process may have moved on since. */
  isRemembered: boolean
}
