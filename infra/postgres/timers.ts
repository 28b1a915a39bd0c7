import type pg from 'pg'
import type { DueTimer, Timers } from '../../packages/kernel/read-ports.ts'
import { fenced, type Fence } from './fenced.ts'
import { readSchema } from './tables.ts'
import { Together } from './together.ts'

interface Postponement extends Pick<DueTimer, 'id' | 'dueAt'> {
  readonly until: Date
}

/**
 * The read model `timers`, and how often each timer has been run: attempts are no events, so they are kept
 * beside it. Only who leads writes them.
 */
export class PostgresTimers implements Timers {
  readonly #pool: pg.Pool
  readonly #fence: Fence | undefined
  readonly #postponements = new Together((batch: readonly Postponement[]) => this.#postpone(batch))

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

  postpone({ id, dueAt }: Pick<DueTimer, 'id' | 'dueAt'>, until: Date): Promise<void> {
    return this.#postponements.ask({ id, dueAt, until })
  }

  /** Forgets attempts of timers that are gone. */
  async sweep(): Promise<void> {
    const text = `
      delete from timer_attempts a
      where not exists (select from ${readSchema}.timers t where t.id = a.id)`
    await fenced(this.#pool, this.#fence, (connection) => connection.query(text))
  }

  /** Timers run side by side and end together, each of them once. */
  async #postpone(batch: readonly Postponement[]): Promise<readonly undefined[]> {
    const text = `
      insert into timer_attempts as a (id, due_at, attempts, again_at)
      select id, due_at, 1, again_at
      from unnest($1::text[], $2::timestamptz[], $3::timestamptz[]) as postponed (id, due_at, again_at)
      on conflict (id) do update set again_at = excluded.again_at, due_at = excluded.due_at,
        attempts = case when a.due_at = excluded.due_at then a.attempts + 1 else 1 end`
    const values = [
      batch.map(({ id }) => id),
      batch.map(({ dueAt }) => dueAt),
      batch.map(({ until }) => until),
    ]
    const query = { name: 'postpone-timers', text, values }
    await fenced(this.#pool, this.#fence, (connection) => connection.query(query))
    return batch.map(() => undefined)
  }
}
