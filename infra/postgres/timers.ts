import type pg from 'pg'
import type { DueTimer, Timers } from '../../packages/kernel/read-ports.ts'
import { fenced, type Fence } from './fenced.ts'
import { readSchema } from './tables.ts'

/**
 * The read model `timers`, and how often each timer has been run: attempts are no events, so they are kept
 * beside it. Only who leads writes them.
 */
export class PostgresTimers implements Timers {
  readonly #pool: pg.Pool
  readonly #fence: Fence | undefined

  constructor(pool: pg.Pool, fence?: Fence) {
    this.#pool = pool
    this.#fence = fence
  }

  async due(now: Date, limit: number): Promise<readonly DueTimer[]> {
    const { rows } = await this.#pool.query<DueTimer>(
      `select t.id, t.kind, t.subject, t.merchant, t.livemode, t.due_at as "dueAt", coalesce(a.attempts, 0) as attempts
       from ${readSchema}.timers t left join timer_attempts a on a.id = t.id and a.due_at = t.due_at
       where t.due_at <= $1 and (a.again_at is null or a.again_at <= $1)
       order by t.due_at limit $2`,
      [now, limit],
    )
    return rows
  }

  async postpone({ id, dueAt }: Pick<DueTimer, 'id' | 'dueAt'>, until: Date): Promise<void> {
    const text = `
      insert into timer_attempts as a (id, due_at, attempts, again_at) values ($1, $2, 1, $3)
      on conflict (id) do update set again_at = $3, due_at = $2,
        attempts = case when a.due_at = $2 then a.attempts + 1 else 1 end`
    await fenced(this.#pool, this.#fence, (connection) => connection.query(text, [id, dueAt, until]))
  }

  /** Forgets attempts of timers that are gone. */
  async sweep(): Promise<void> {
    const text = `
      delete from timer_attempts a
      where not exists (select from ${readSchema}.timers t where t.id = a.id)`
    await fenced(this.#pool, this.#fence, (connection) => connection.query(text))
  }
}
