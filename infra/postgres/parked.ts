import type pg from 'pg'

/** A stream that one consumer has set aside: the first event that it could not handle, and why. */
export interface Parked {
  readonly consumer: string
  readonly stream: string
  readonly revision: number
  readonly position: number
  readonly eventId: string
  readonly type: string
  readonly error: string
  readonly parkedAt: string
}

export async function listParked(pool: pg.Pool): Promise<readonly Parked[]> {
  const { rows } = await pool.query<Parked>(
    `select consumer, stream, revision, position, event_id as "eventId", type, error, parked_at as "parkedAt"
     from parked order by parked_at, position`,
  )
  return rows
}

/** Asks the consumers to try parked streams again; answers how many there are. */
export async function wishRetry(pool: pg.Pool, stream?: string): Promise<number> {
  const { rowCount } = await pool.query('update parked set retry = true where stream = coalesce($1, stream)', [stream ?? null])
  return rowCount ?? 0
}

/** Takes the wishes: a stream that is still poisoned is tried again only when somebody asks again. */
export async function parkedWishes(pool: pg.Pool): Promise<readonly Pick<Parked, 'consumer' | 'stream'>[]> {
  const { rows } = await pool.query<Pick<Parked, 'consumer' | 'stream'>>(
    "update parked set retry = false where retry and consumer like 'read.%' returning consumer, stream",
  )
  return rows
}

/** What one consumer of the log has set aside, by the stream that is not to be touched meanwhile. */
export class ParkedEvents {
  readonly #pool: pg.Pool
  readonly #consumer: string
  readonly #targets = new Set<string>()

  constructor(pool: pg.Pool, consumer: string) {
    this.#pool = pool
    this.#consumer = consumer
  }

  async load(): Promise<void> {
    const { rows } = await this.#pool.query<{ consumer: string }>("select distinct consumer from parked where consumer like $1 || ' %'", [
      this.#consumer,
    ])
    for (const { consumer } of rows) this.#targets.add(consumer.slice(this.#consumer.length + 1))
  }

  has(target: string): boolean {
    return this.#targets.has(target)
  }

  async park(target: string, events: readonly ParkedEvent[], error: string): Promise<void> {
    const rows = events.map(({ stream, revision, position, eventId, type }) => ({ stream, revision, position, event_id: eventId, type }))
    await this.#pool.query(
      `insert into parked (consumer, stream, revision, position, event_id, type, error)
       select $1, stream, revision, position, event_id, type, $3
       from jsonb_to_recordset($2::jsonb) as t(stream text, revision integer, position bigint, event_id uuid, type text)
       on conflict (consumer, stream, revision) do update set error = excluded.error`,
      [`${this.#consumer} ${target}`, JSON.stringify(rows), error],
    )
    this.#targets.add(target)
  }

  /** Targets that somebody asked to try again. */
  async wishes(): Promise<readonly string[]> {
    const { rows } = await this.#pool.query<{ consumer: string }>(
      "update parked set retry = false where retry and consumer like $1 || ' %' returning consumer",
      [this.#consumer],
    )
    return [...new Set(rows.map(({ consumer }) => consumer.slice(this.#consumer.length + 1)))]
  }

  /** Its events in the order of the log. */
  async eventsOf(target: string): Promise<readonly { readonly stream: string; readonly revision: number }[]> {
    const { rows } = await this.#pool.query<{ stream: string; revision: number }>(
      'select stream, revision from parked where consumer = $1 order by position',
      [`${this.#consumer} ${target}`],
    )
    return rows
  }

  async release(target: string, event: { readonly stream: string; readonly revision: number }): Promise<void> {
    const consumer = `${this.#consumer} ${target}`
    const { rows } = await this.#pool.query<{ left: number }>(
      `with gone as (delete from parked where consumer = $1 and stream = $2 and revision = $3)
       select count(*)::int - 1 as left from parked where consumer = $1`,
      [consumer, event.stream, event.revision],
    )
    if (rows[0]!.left <= 0) this.#targets.delete(target)
  }
}

export type ParkedEvent = Omit<Parked, 'consumer' | 'error' | 'parkedAt'>
