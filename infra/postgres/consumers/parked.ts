import type pg from 'pg'
import { fenced, type Fence } from './fence.ts'

/** A stream that one consumer has set aside: the first event it could not handle, and why. */
export interface Parked {
  readonly consumer: string
  readonly stream: string
  readonly revision: number
  readonly position: number
  readonly eventId: string
  readonly type: string
  readonly error: string
  readonly parkedAt: string
  /** When it is tried again by itself, if it is. */
  readonly retryAt: string | null
}

export async function listParked(pool: pg.Pool): Promise<readonly Parked[]> {
  const { rows } = await pool.query<Parked>(
    `select consumer, stream, revision, position, event_id as "eventId", type, error, parked_at as "parkedAt",
       retry_at as "retryAt"
     from parked order by parked_at, position`,
  )
  return rows
}

/** Asks consumers to retry parked streams; returns how many events are parked there. */
export async function requestRetry(pool: pg.Pool, stream?: string): Promise<number> {
  const text = `update parked set retry = true where stream = coalesce($1, stream) and not ${isMessage}`
  const { rowCount } = await pool.query(text, [stream ?? null])
  return rowCount ?? 0
}

/** Takes the requests: a stream that is still poisoned is retried only on the next request. */
export function takeRetryRequests(pool: pg.Pool, fence?: Fence): Promise<readonly RetryRequest[]> {
  return takeRequests({ pool, fence, consumers: 'read.%' })
}

type RetryRequest = Pick<Parked, 'consumer' | 'stream'>

interface Taking {
  readonly pool: pg.Pool
  readonly fence: Fence | undefined
  /** A pattern for SQL's LIKE. */
  readonly consumers: string
}

/**
 * There is hardly ever any, so looking for them should write nothing. What is tried again by itself gets its
 * next turn at once, in case this one ends with the process.
 */
async function takeRequests({ pool, fence, consumers }: Taking): Promise<readonly RetryRequest[]> {
  const isWished = '(retry or retry_at <= now()) and consumer like $1'
  const wished = await pool.query(`select from parked where ${isWished} limit 1`, [consumers])
  if (wished.rowCount === 0) return []
  return fenced(pool, fence, async (connection) => {
    const text = `
      update parked set retry = false, tries = tries + 1,
        retry_at = case when retry_at is not null then now() + ${retryDelay('tries + 1')} end
      where ${isWished} returning consumer, stream`
    const { rows } = await connection.query<RetryRequest>(text, [consumers])
    return rows
  })
}

/** Doubled with each try, up to five minutes. */
function retryDelay(tries: string): string {
  return `least(interval '5 minutes', interval '2 seconds' * 2 ^ least(${tries}, 10))`
}

const waitsBehind = 'waits behind an earlier event that is parked'

/** What one consumer of the log has parked, by the target stream that must not be touched meanwhile. */
export class ParkedEvents {
  readonly #pool: pg.Pool
  readonly #consumer: string
  readonly #fence: Fence | undefined
  readonly #targets = new Set<string>()
  /** Targets for which parking failed, and may have been committed all the same. */
  readonly #unsure = new Set<string>()
  /** Parking has failed: what nobody finds parked may still be committed later. */
  #hasFailed = false
  /**
   * Adding behind a parked event and releasing the last one exclude each other: only the leader does either.
   */
  #turn: Promise<unknown> = Promise.resolve()

  constructor(pool: pg.Pool, consumer: string, fence?: Fence) {
    this.#pool = pool
    this.#consumer = consumer
    this.#fence = fence
  }

  load(): Promise<void> {
    return this.#exclusively(() => this.#load())
  }

  async #load(): Promise<void> {
    const text = "select distinct consumer from parked where consumer like $1 || ' %'"
    const { rows } = await this.#pool.query<{ consumer: string }>(text, [this.#consumer])
    for (const { consumer } of rows) this.#targets.add(consumer.slice(this.#consumer.length + 1))
  }

  /** Or may have: `parkBehind` finds out. */
  has(target: string): boolean {
    return this.#targets.has(target) || this.#unsure.has(target)
  }

  /** Whether this event is parked for the target. */
  async holds(target: string, { stream, revision }: Place): Promise<boolean> {
    if (!this.has(target)) return false
    const text = 'select from parked where consumer = $1 and stream = $2 and revision = $3'
    const { rowCount } = await this.#pool.query(text, [`${this.#consumer} ${target}`, stream, revision])
    return rowCount !== 0
  }

  async park(target: string, events: readonly ParkedEvent[], error: string): Promise<void> {
    return this.#exclusively(() => this.#park(target, events, { error }))
  }

  /** Parks events behind an earlier one of their target; false when none is parked any more. */
  parkBehind(target: string, events: readonly ParkedEvent[]): Promise<boolean> {
    return this.#exclusively(async () => {
      if (!this.has(target)) return false
      // The answer to its last release may have been lost.
      const text = 'select from parked where consumer = $1 limit 1'
      const { rowCount } = await this.#pool.query(text, [`${this.#consumer} ${target}`])
      if (rowCount === 0) this.#forget(target)
      else await this.#park(target, events, { error: waitsBehind, isBehind: true })
      return rowCount !== 0
    })
  }

  /** Parks an event that waits for somebody outside, and is therefore tried again by itself. */
  async setAside(target: string, event: ParkedEvent, error: string): Promise<void> {
    return this.#exclusively(() => this.#park(target, [event], { error, isRetried: true }))
  }

  /** What is parked already and now waits behind others, if only behind itself, stays as it is. */
  async #park(
    target: string,
    events: readonly ParkedEvent[],
    { error, isRetried = false, isBehind = false }: Parking,
  ): Promise<void> {
    const again = `update set error = excluded.error,
      retry_at = case when $4 then now() + ${retryDelay('parked.tries')} else parked.retry_at end`
    const text = `
      insert into parked (consumer, stream, revision, position, event_id, type, error, retry_at)
      select distinct $1, stream, revision, position, "eventId", type, $3,
        case when $4 then now() + ${retryDelay('0')} end
      from jsonb_to_recordset($2::jsonb)
        as t(stream text, revision integer, position bigint, "eventId" uuid, type text)
      on conflict (consumer, stream, revision) do ${isBehind ? 'nothing' : again}`
    const rows = events.map(({ stream, revision, position, eventId, type }) => {
      return { stream, revision, position, eventId, type }
    })
    const values = [`${this.#consumer} ${target}`, JSON.stringify(rows), error, isRetried]
    this.#unsure.add(target)
    const parking = fenced(this.#pool, this.#fence, (connection) => connection.query(text, values))
    await parking.catch((error: unknown) => {
      this.#hasFailed = true
      throw error
    })
    this.#targets.add(target)
    this.#unsure.delete(target)
  }

  /**
   * Targets whose retry was requested. Only the leader parks: while it has parked nothing, and no parking has
   * failed, none can be.
   */
  async retryRequests(): Promise<readonly string[]> {
    if (this.#hasFailed) await this.load()
    if (this.#targets.size + this.#unsure.size === 0) return []
    const consumers = `${this.#consumer} %`
    const retryRequests = await takeRequests({ pool: this.#pool, fence: this.#fence, consumers })
    return [...new Set(retryRequests.map(({ consumer }) => consumer.slice(this.#consumer.length + 1)))]
  }

  /** Its events in log order. */
  async eventsOf(target: string): Promise<readonly ParkedPlace[]> {
    const { rows } = await this.#pool.query<ParkedPlace>(
      'select stream, revision, event_id as "eventId" from parked where consumer = $1 order by position',
      [`${this.#consumer} ${target}`],
    )
    return rows
  }

  release(target: string, event: Place): Promise<void> {
    return this.#exclusively(() => this.#release(target, event))
  }

  /** What waited behind one that is tried again by itself is tried again by itself. */
  async #release(target: string, event: Place): Promise<void> {
    const text = `
      with gone as (
        delete from parked where consumer = $1 and stream = $2 and revision = $3 returning retry_at
      ), next as (
        select stream, revision from parked where consumer = $1 and (stream, revision) <> ($2, $3)
        order by position limit 1
      ), retried as (
        update parked set retry_at = gone.retry_at from gone, next
        where parked.consumer = $1 and parked.stream = next.stream and parked.revision = next.revision
          and gone.retry_at is not null and parked.retry_at is null
      )
      select count(*)::int - (select count(*)::int from gone) as left from parked where consumer = $1`
    const values = [`${this.#consumer} ${target}`, event.stream, event.revision]
    const release = (connection: pg.ClientBase) => connection.query<{ left: number }>(text, values)
    const { rows } = await fenced(this.#pool, this.#fence, release)
    if (rows[0]!.left <= 0) this.#forget(target)
  }

  #forget(target: string): void {
    this.#targets.delete(target)
    this.#unsure.delete(target)
  }

  #exclusively<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = this.#turn.then(work)
    this.#turn = result.catch(() => undefined)
    return result
  }
}

interface Parking {
  readonly error: string
  /** By itself, without being asked. */
  readonly isRetried?: boolean
  readonly isBehind?: boolean
}

export type ParkedEvent = Omit<Parked, 'consumer' | 'error' | 'parkedAt' | 'retryAt'>

/** Which event it is: another one may stand at its place by now. */
export type ParkedPlace = Pick<Parked, 'stream' | 'revision' | 'eventId'>

type Place = Pick<Parked, 'stream' | 'revision'>

export interface ParkedMessage {
  readonly group: string
  readonly topic: string
  readonly partition: number
  readonly offset: string
  readonly reason: string
}

/** Messages are never retried: what they should say is not known here. */
const isMessage = `consumer like 'bus %'`

export async function isParkedMessage(pool: pg.Pool, name: string): Promise<boolean> {
  const { rowCount } = await pool.query(`select from parked where stream = $1 and ${isMessage}`, [name])
  return rowCount !== 0
}

/** Removes a message that was looked at; false when it is not there. */
export async function dismissMessage(pool: pg.Pool, name: string): Promise<boolean> {
  const { rowCount } = await pool.query(`delete from parked where stream = $1 and ${isMessage}`, [name])
  return rowCount !== 0
}

/** Sets aside a bus message that is no event at all; when it comes again, nothing changes. */
export async function parkMessage(pool: pg.Pool, message: ParkedMessage): Promise<void> {
  const { group, topic, partition, offset, reason } = message
  await pool.query(
    `insert into parked (consumer, stream, revision, position, event_id, type, error)
     values ($1, $2, 0, $3, gen_random_uuid(), 'message', $4) on conflict do nothing`,
    [`bus ${group}`, `${topic}/${partition}/${offset}`, offset, reason],
  )
}
