import type { StoredEvent } from '../../packages/kernel/ports.ts'

/** Events that this process has seen are no longer in the log. */
export class LogWentBackError extends Error {
  override readonly name = 'LogWentBackError'

  constructor(engine: string, position: number) {
    super(
      `${engine} does not have the event at position ${position} any more, which this process has seen: it ` +
        'goes on from an older copy. This process ends, so that nothing is done about events that are gone: ' +
        'see "Older copies" in docs/operations.md',
    )
  }
}

export type SeenEvent = Pick<StoredEvent, 'position' | 'id' | 'stream' | 'revision'>

export interface SeenLogOptions {
  /** As operators know it. */
  readonly engine: string
  readonly onLost: (error: LogWentBackError) => void
}

/**
 * The newest event that this process has written or read. After a failover to a lagging standby, or when an
 * older backup was restored, positions are assigned again: what is cached here would describe events that
 * are gone.
 */
export class SeenLog {
  readonly #options: SeenLogOptions
  #newest: SeenEvent | undefined
  /** Number of connections that have ended: the next one may lead to another server. */
  #doubts = 0
  /** The number of connections after which the log was last found to be the same. */
  #resolved = 0
  /** All who are in doubt for the same reason share one look. */
  #look: { readonly doubts: number; readonly done: Promise<void> } | undefined

  constructor(options: SeenLogOptions) {
    this.#options = options
  }

  note({ position, id, stream, revision }: SeenEvent): void {
    if (this.#doubts > this.#resolved || (this.#newest && position <= this.#newest.position)) return
    this.#newest = { position, id: id.toLowerCase(), stream, revision }
  }

  doubt(): void {
    this.#doubts++
  }

  /** What was known of the log before the last of them may be of another server. */
  get doubts(): number {
    return this.#doubts
  }

  /** The log is known to hold what this process has seen, unless a connection has ended since. */
  async requireIfInDoubt(isThere: (newest: SeenEvent) => Promise<boolean>): Promise<void> {
    const doubts = this.#doubts
    if (doubts === this.#resolved) return
    if (this.#look?.doubts !== doubts) this.#look = { doubts, done: this.#resolve(doubts, isThere) }
    await this.#look.done
  }

  async #resolve(doubts: number, isThere: (newest: SeenEvent) => Promise<boolean>): Promise<void> {
    try {
      await this.require(isThere)
      this.#resolved = Math.max(this.#resolved, doubts)
    } finally {
      if (this.#look?.doubts === doubts) this.#look = undefined
    }
  }

  /** Asked first on every new connection; throws when the server is another one or has lost events. */
  async require(isThere: (newest: SeenEvent) => Promise<boolean>): Promise<void> {
    const newest = this.#newest
    if (!newest || (await isThere(newest))) return
    const error = new LogWentBackError(this.#options.engine, newest.position)
    this.#options.onLost(error)
    throw error
  }
}
