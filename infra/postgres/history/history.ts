import type pg from 'pg'

/** Which history the bookkeeping of a database belongs to. */
export interface KeptHistory {
  readonly id: string
  /** Begun anew when this database is filled from elsewhere: what the log goes on with is its own. */
  readonly branch: string
  /** Something is being copied in here, and is not complete yet. */
  readonly isIncomplete: boolean
  readonly hasEvents: boolean
  /** A service has done something about events: then this bookkeeping is not replaced. */
  readonly hasRun: boolean
  /** The furthest that any consumer has come. */
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

/** From now on the database belongs to this history. */
export async function keepHistory(
  database: pg.Pool | pg.ClientBase,
  { id, isIncomplete }: Pick<KeptHistory, 'id' | 'isIncomplete'>,
): Promise<void> {
  await database.query('update history set id = $1, is_incomplete = $2, branch = gen_random_uuid()', [
    id,
    isIncomplete,
  ])
}
