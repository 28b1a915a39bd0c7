import type pg from 'pg'

/** What a service relies on people and their schedules for. */
export type UpkeepTask = 'backup' | 'verification' | 'audit'

export interface Upkeep {
  readonly task: UpkeepTask
  /** Position in the log: everything up to here is covered. */
  readonly position: number
  /** A task covers what existed when it started, so its age counts from its start. */
  readonly at: Date
}

/** Records that it was done successfully. */
export async function noteUpkeep(pool: pg.Pool, { task, position, at }: Upkeep): Promise<void> {
  await pool.query(
    `insert into upkeep as known (task, position, done_at) values ($1, $2, $3)
     on conflict (task) do update set position = excluded.position, done_at = excluded.done_at
     where known.done_at <= excluded.done_at`,
    [task, position, at],
  )
}

/** Seconds since each task was done; tasks never done are left out. */
export async function upkeepAges(pool: pg.Pool, now: Date): Promise<Readonly<Record<string, number>>> {
  const { rows } = await pool.query<{ task: string; age: number }>(
    `select task, extract(epoch from $1::timestamptz - done_at)::float8 as age from upkeep`,
    [now],
  )
  return Object.fromEntries(rows.map(({ task, age }) => [task, Math.max(0, age)]))
}
