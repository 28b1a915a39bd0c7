import { streamName, type AnyDecider, type Decider, type Message, type Payloads } from '../decider.ts'
import type { Envelope } from '../envelope.ts'
import type { ExecutorOptions, Outcome, PendingCommand, Remembered } from './options.ts'
import { foldStored, snapshotOf } from '../history.ts'
import { Mailbox } from './mailbox.ts'
import type { MerchantOwner, Owner } from '../owner.ts'
import { noStream, type Snapshot } from '../ports.ts'
import { RecentlyUsed } from './recently-used.ts'

interface Listener {
  readonly categories: readonly string[]
  readonly heard: (stream: string) => void
}

/**
 * Read, fold, decide, append. Each stream has a mailbox, so that commands of one process never race each
 * other.
 */
export class Executor {
  readonly #options: ExecutorOptions
  readonly #mailboxes: RecentlyUsed<Mailbox>
  readonly #listeners = new Set<Listener>()
  #position = 0

  constructor(options: ExecutorOptions) {
    this.#options = options
    this.#mailboxes = new RecentlyUsed(options.streamsMax ?? 10_000, ({ busy }) => busy)
  }

  /** Carries out one command. Throws the decision's refusal. */
  async send<S, C extends Payloads, E extends Payloads, O extends Owner = MerchantOwner>(
    decider: Decider<S, C, E, O>,
    id: string,
    command: Message<C>,
    envelope: Envelope<O>,
  ): Promise<Outcome<S>> {
    const outcome = await this.sendAll(decider, id, [{ command, envelope }])
    return outcome as Outcome<S>
  }

  /**
   * A stream as it is now. Where it is cached or has a snapshot only what is newer is read: streams that grow
   * without bound are read like this.
   */
  async current<S, C extends Payloads, E extends Payloads, O extends Owner>(
    decider: Decider<S, C, E, O>,
    id: string,
  ): Promise<Outcome<S>> {
    return (await this.sendAll(decider, id, [])) as Outcome<S>
  }

  /**
   * Carries out several commands of one stream in order and in one write: all or none. Without commands it
   * returns the stream as it is.
   */
  async sendAll(
    decider: AnyDecider,
    id: string,
    commands: readonly PendingCommand[],
  ): Promise<Outcome<unknown>> {
    try {
      const outcome = await this.#mailbox(decider, id).post(commands)
      this.#position = Math.max(this.#position, outcome.position)
      return outcome
    } finally {
      if (commands.length > 0) for (const listener of this.#listeners) tell(listener, decider.category, id)
    }
  }

  /**
   * Calls this with each stream of these categories that was sent a command here, before whoever sent it is
   * told what came of it. Returns how to stop.
   */
  onSent(categories: readonly string[], heard: (stream: string) => void): () => void {
    const listener = { categories, heard }
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** The log has reached at least this position: this process's last write. */
  get position(): number {
    return this.#position
  }

  /** The state as this process last knew it, if cached. Another process may have moved on since. */
  remembered(decider: AnyDecider, id: string): Remembered | undefined {
    return this.#mailboxes.get(streamName(decider.category, id))?.remembered()
  }

  /** What this process last saw of a stream: a hint at what to read, by which nothing is decided. */
  lastSeen<S, C extends Payloads, E extends Payloads, O extends Owner>(
    { category }: Decider<S, C, E, O>,
    id: string,
  ): S | undefined {
    return this.#mailboxes.get(streamName(category, id))?.lastSeen as S | undefined
  }

  /**
   * A stream as it is stored now, read beside the commands that wait. `known`: as it was before, so that only
   * what is newer is read. Not for deciders that modify their state in place.
   */
  async stored(decider: AnyDecider, id: string, known?: Snapshot): Promise<Snapshot> {
    const stream = streamName(decider.category, id)
    const { store, snapshots } = this.#options
    const start = known ?? (await snapshotOf(snapshots, decider, stream))
    const events = await store.readStream(stream, (start?.revision ?? noStream) + 1)
    const state = foldStored(decider, events, start ? start.state : decider.initial())
    return { state, revision: events.at(-1)?.revision ?? start?.revision ?? noStream }
  }

  /** Drops all cached states: what they were folded from may read otherwise now. */
  forget(): void {
    for (const mailbox of this.#mailboxes.values()) mailbox.forget()
  }

  #mailbox(decider: AnyDecider, id: string): Mailbox {
    const stream = streamName(decider.category, id)
    let mailbox = this.#mailboxes.get(stream)
    if (!mailbox) this.#mailboxes.set(stream, (mailbox = new Mailbox(decider, id, this.#options)))
    return mailbox
  }
}

function tell({ categories, heard }: Listener, category: string, id: string): void {
  if (categories.includes(category)) heard(streamName(category, id))
}
