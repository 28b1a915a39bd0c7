import type pg from 'pg'

/** Who erases a person, and why. */
export interface ErasureOrder {
  /** A digest: who was erased is not told by it. */
  readonly person: string
  readonly by: string
  readonly reason: string
}

/** What was erased since some time, or by an erasure that was under way then. */
export interface ErasedMeanwhile {
  /** Names of destroyed keys, `<subject>.<generation>`. */
  readonly keys: ReadonlySet<string>
  /** When the oldest erasure was begun that is still under way. */
  readonly underWaySince: string | undefined
  readonly now: string
}

export async function erasedMeanwhile(pool: pg.Pool, since: string): Promise<ErasedMeanwhile> {
  const { rows } = await pool.query<{ keys: readonly string[] | null; begun: string | null; now: string }>(
    `select now() as now, (select min(begun_at) from erasures where done_at is null) as begun, (
       select array_agg(subject || '.' || generation) from subject_keys
       where wrapped is null and retired_at >= least($1::timestamptz,
         (select min(begun_at) from erasures where done_at is null or done_at >= $1::timestamptz))
     ) as keys`,
    [since],
  )
  const { keys, begun, now } = rows[0]!
  return { keys: new Set(keys ?? []), underWaySince: begun ?? undefined, now }
}

/** By the clock that erasures are dated by. */
export async function timeOfErasures(pool: pg.Pool): Promise<string> {
  const { rows } = await pool.query<{ now: string }>('select now() as now')
  return rows[0]!.now
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
