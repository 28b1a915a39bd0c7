import type { Envelope } from './envelope.ts'
import type { MovedClocks } from './moved-clocks.ts'
import type { Owner } from './owner.ts'
import type { Clock, EventStore, Log, NewId, Snapshots } from './ports.ts'

export interface Outcome<State> {
  readonly id: string
  /** The state after this command; of a decider that changes its state in place, the state now. */
  readonly state: State
  /** Revision of the stream after this command. */
  readonly revision: number
  /** Position of the last event appended, 0 when nothing had to be. */
  readonly position: number
  /** How many events this command appended; 0 means that all was in the history already. */
  readonly appended: number
}

export interface PendingCommand {
  readonly command: { readonly type: string; readonly data: object }
  readonly envelope: Envelope
}

/** What the kernel refuses by itself. The caller says how, because refusals are part of the contract. */
export interface Refuse {
  readonly notFound: (stream: string) => Error
  readonly changedMeanwhile: (stream: string) => Error
  readonly otherRevision: (stream: string) => Error
  readonly overloaded: (stream: string) => Error
}

export interface Remembered {
  readonly state: unknown
  readonly revision: number
  readonly owner: Owner
}

export interface ExecutorOptions {
  readonly store: EventStore
  readonly snapshots: Snapshots
  readonly clock: Clock
  /** Awaited before a decision: see `MovedClocks`. Left out: nobody's clock is ever moved. */
  readonly knowsTime?: MovedClocks['known']
  readonly newId: NewId
  /** 16 random bytes in base64url. */
  readonly newSalt: () => string
  readonly log: Log
  readonly refuse: Refuse
  readonly pause: (delayMs: number) => Promise<void>
  /** Streams whose state is kept in memory. */
  readonly streamsMax?: number
}
