import type pg from 'pg'

/** Who erases a person, and why. */
export interface ErasureOrder {
  /** A digest: who was erased is not told by it. */
  readonly person: string
  readonly by: string
  readonly reason: string
}

/**
 * Names of the keys, `<subject>.<generation>`, that were destroyed since some time, or by an erasure that was
 * under way then.
 */
export async function keysErasedSince(pool: pg.Pool, since: string): Promise<ReadonlySet<string>> {
  const { rows } = await pool.query<{ key: string }>(
    `select subject || '.' || generation as key from subject_keys
     where wrapped is null and retired_at >= least($1::timestamptz,
       (select min(begun_at) from erasures where done_at is null or done_at >= $1::timestamptz))`,
    [since],
  )
  return new Set(rows.map(({ key }) => key))
}

/** The oldest erasure that is still under way: when it was begun, and for how long it has been. */
export interface ErasureUnderWay {
  readonly since: string
  readonly seconds: number
}

export async function erasureUnderWay(pool: pg.Pool): Promise<ErasureUnderWay | undefined> {
  const { rows } = await pool.query<ErasureUnderWay>(
    `select begun_at as since, extract(epoch from now() - begun_at)::float8 as seconds from erasures
     where done_at is null order by begun_at limit 1`,
  )
  return rows[0]
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
