import type pg from 'pg'

/** Who erases a person, and why. */
export interface ErasureOrder {
  /** A digest: who was erased is not told by it. */
  readonly person: string
  readonly by: string
  readonly reason: string
}

/**
 * Erasures, kept as evidence. Until one is done it has a sealed list of what is to be redacted, for once the
 * keys are destroyed nobody can find out any more.
 */
export class Erasures {
  readonly #pool: pg.Pool

  constructor(pool: pg.Pool) {
    this.#pool = pool
  }

  /** The list of an erasure that was begun and not done. */
  async begun(person: string): Promise<string | undefined> {
    const { rows } = await this.#pool.query<{ sealed: string }>(
      'select sealed from erasures where person = $1 and done_at is null',
      [person],
    )
    return rows[0]?.sealed
  }

  async begin({ person, by, reason }: ErasureOrder, sealed: string): Promise<void> {
    await this.#pool.query(
      `insert into erasures (person, requested_by, reason, sealed) values ($1, $2, $3, $4)
       on conflict (person) where done_at is null do update set sealed = excluded.sealed`,
      [person, by, reason, sealed],
    )
  }

  async end(person: string): Promise<void> {
    await this.#pool.query(
      'update erasures set done_at = now(), sealed = null where person = $1 and done_at is null',
      [person],
    )
  }
}
