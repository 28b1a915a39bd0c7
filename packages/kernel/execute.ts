import { streamName, type AnyDecider, type Decider, type Message, type Payloads } from './decider.ts'
import type { Envelope } from './envelope.ts'
import { Mailbox } from './mailbox.ts'
import type { MovedClocks } from './moved-clocks.ts'
import type { Owner } from './owner.ts'
import type { Clock, EventStore, Log, NewId, Snapshots } from './ports.ts'
import { RecentlyUsed } from './recently-used.ts'

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

/**
 * Read, fold, decide, append. One mailbox per stream, so that commands of one process never race each other.
 */
export class Executor {
  readonly #options: ExecutorOptions
  readonly #mailboxes: RecentlyUsed<Mailbox>
  #position = 0

  constructor(options: ExecutorOptions) {
    this.#options = options
    this.#mailboxes = new RecentlyUsed(options.streamsMax ?? 10_000, ({ busy }) => busy)
  }

  /** Carries out one command. Throws what the decision refuses. */
  async send<S, C extends Payloads, E extends Payloads>(
    decider: Decider<S, C, E>,
    id: string,
    command: Message<C>,
    envelope: Envelope,
  ): Promise<Outcome<S>> {
    const outcome = await this.sendAll(decider, id, [{ command, envelope }])
    return outcome as Outcome<S>
  }

  /**
   * Carries out several commands of one stream in their order and in one write: all of them or none. Without
   * any it answers the stream as it is.
   */
  async sendAll(
    decider: AnyDecider,
    id: string,
    commands: readonly PendingCommand[],
  ): Promise<Outcome<unknown>> {
    const outcome = await this.#mailbox(decider, id).post(commands)
    this.#position = Math.max(this.#position, outcome.position)
    return outcome
  }

  /** The log stands at least here: it is where this process last wrote. */
  get position(): number {
    return this.#position
  }

  /** The state as this process last knew it, when it is in memory. Another process may have gone on since. */
  remembered(decider: AnyDecider, id: string): Remembered | undefined {
    return this.#mailboxes.get(streamName(decider.category, id))?.remembered()
  }

  #mailbox(decider: AnyDecider, id: string): Mailbox {
    const stream = streamName(decider.category, id)
    let mailbox = this.#mailboxes.get(stream)
    if (!mailbox) this.#mailboxes.set(stream, (mailbox = new Mailbox(decider, id, this.#options)))
    return mailbox
  }
}
