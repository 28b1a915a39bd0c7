import type pg from 'pg'

/** The history that a database's bookkeeping belongs to. */
export interface KeptHistory {
  readonly id: string
  /** Renewed when this database is filled from elsewhere: events appended from then on are its own. */
  readonly branch: string
  /** A copy into this database is incomplete. */
  readonly isIncomplete: boolean
  readonly hasEvents: boolean
  /** A service has acted on events: this bookkeeping must not be replaced any more. */
  readonly hasRun: boolean
  /** The furthest checkpoint of any consumer. */
  readonly reached: number
}

export async function keptHistory(pool: pg.Pool): Promise<KeptHistory> {
  const { rows } = await pool.query<KeptHistory>(`
    select id, branch, is_incomplete as "isIncomplete",
      exists (select from events) as "hasEvents",
      exists (select from leaders where name <> 'projector') as "hasRun",
      (select coalesce(max(position), 0) from checkpoints) as reached
    from history`)
  return rows[0]!
}

/** Binds the database to this history. */
export async function keepHistory(
  database: pg.Pool | pg.ClientBase,
  { id, isIncomplete }: Pick<KeptHistory, 'id' | 'isIncomplete'>,
): Promise<void> {
  await database.query('update history set id = $1, is_incomplete = $2, branch = gen_random_uuid()', [
    id,
    isIncomplete,
  ])
}
