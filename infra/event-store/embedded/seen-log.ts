import type pg from 'pg'

/** Events that this process has seen are no longer in the log. */
export class LogWentBackError extends Error {
  override readonly name = 'LogWentBackError'

  constructor(position: number) {
    super(
      `PostgreSQL does not have the event at position ${position} any more, which this process has seen: it ` +
        'goes on from an older copy. This process ends, so that nothing is done about events that are gone; ' +
        'a standby must be synchronous (docs/operations.md)',
    )
  }
}

interface Seen {
  readonly position: number
  readonly id: string
}

/**
 * The newest event that this process has written or read. After a failover to a lagging standby, positions
 * are assigned again: what is cached here would describe events that are gone.
 */
export class SeenLog {
  readonly #onLost: (error: LogWentBackError) => void
  #newest: Seen = { position: 0, id: '' }

  constructor(onLost: (error: LogWentBackError) => void) {
    this.#onLost = onLost
  }

  note({ position, id }: Seen): void {
    if (position > this.#newest.position) this.#newest = { position, id: id.toLowerCase() }
  }

  /** Asked first on every new connection; throws when the server is another one or has lost events. */
  async require(client: pg.ClientBase): Promise<void> {
    const { position, id } = this.#newest
    if (position === 0) return
    const text = 'select id from events where position = $1'
    const { rows } = await client.query<{ id: string }>(text, [position])
    if (rows[0]?.id === id) return
    const error = new LogWentBackError(position)
    this.#onLost(error)
    throw error
  }
}
