import type pg from 'pg'

/** What a service relies on people and their schedules for. */
export type UpkeepTask = 'backup' | 'verification'

export interface Upkeep {
  readonly task: UpkeepTask
  /** Of the log: all up to here is covered. */
  readonly position: number
  /** Work covers what was there when it began, so it is as old as its beginning. */
  readonly at: Date
}

/** Notes that it was done, with success. */
export async function noteUpkeep(pool: pg.Pool, { task, position, at }: Upkeep): Promise<void> {
  await pool.query(
    `insert into upkeep as known (task, position, done_at) values ($1, $2, $3)
     on conflict (task) do update set position = excluded.position, done_at = excluded.done_at
     where known.done_at <= excluded.done_at`,
    [task, position, at],
  )
}

/** Seconds since each task was done; what was never done here is left out. */
export async function upkeepAges(pool: pg.Pool, now: Date): Promise<Readonly<Record<string, number>>> {
  const { rows } = await pool.query<{ task: string; age: number }>(
    `select task, extract(epoch from $1::timestamptz - done_at)::float8 as age from upkeep`,
    [now],
  )
  return Object.fromEntries(rows.map(({ task, age }) => [task, Math.max(0, age)]))
}
