import type pg from 'pg'
import type { EventMetadata, LogFilter, StoredEvent } from '../../../packages/kernel/ports.ts'
import { Batcher } from '../../postgres/client/batcher.ts'
import type { Window } from '../window.ts'
import type { SeenLog } from '../seen-log.ts'

/**
 * The query's number and the columns of an event. Rows are arrays: the driver builds objects column by
 * column, which costs more than reading them.
 */
type EventRow = [
  number: number,
  stream: string,
  revision: number,
  position: number,
  id: string,
  type: string,
  data: object,
  metadata: EventMetadata,
]

/**
 * A window without events is a single row: the head, and how far was looked. A full one says nothing about
 * that: it reaches its last event.
 */
type WindowRow =
  | [...event: EventRow, reach: number | null]
  | [head: number, stream: null, ...nothing: [null, null, null, null, null, null], reach: number]

interface StreamRead {
  readonly stream: string
  readonly from: number
  readonly limit: number
}

/**
 * A filter looks at this many events at a time, so that a rare category does not make one query read the
 * whole log.
 */
const eventsLookedAt = 10_000
const eventsPerStreamRead = 500
const readsPerQuery = 200
const revisionMax = 2 ** 31 - 1

const eventColumns = `
    event.stream, event.revision, event.position, event.id, event.type, event.data, event.metadata`

const readStreams = `
  select request.number, ${eventColumns}
  from unnest($1::text[], $2::integer[], $3::integer[])
    with ordinality as request (stream, start, size, number)
  cross join lateral (
    select * from events
    where stream = request.stream and revision >= request.start
    order by revision
    limit request.size
  ) event`

/**
 * Positions may be far apart: a log that was copied here keeps its original ones. How far was looked is only
 * asked for where events are missing; to a reader far behind it would cost ten times as much as the events.
 */
const readWindow = `
  with found as materialized (
    select * from (select * from events where position > $1 order by position limit $2) looked_at
    where $3::text[] is null or split_part(stream, '-', 1) = any ($3)
    order by position
    limit $4
  )
  select (select coalesce(max(position), 0) from events) as head, ${eventColumns},
    case when (select count(*) from found) < $4 then (
      select coalesce(max(position), $1)
      from (select position from events where position > $1 order by position limit $2) looked_at
    ) end as reach
  from (values (true)) always
  left join found event on true
  order by event.position`

export class Reader {
  readonly #pool: pg.Pool
  readonly #seen: Pick<SeenLog, 'note'>
  /**
   * Reads of one turn of the event loop share a query, as do those that arrive while another is in flight.
   */
  readonly #reads = new Batcher((reads: readonly StreamRead[]) => this.#readStreams(reads), {
    itemsPerStatement: readsPerQuery,
  })

  constructor(pool: pg.Pool, seen: Pick<SeenLog, 'note'>) {
    this.#pool = pool
    this.#seen = seen
  }

  async readStream(stream: string, from: number, limit = Infinity): Promise<readonly StoredEvent[]> {
    const events: StoredEvent[] = []
    let start = Math.max(0, from)
    // No stream has such a name, but PostgreSQL would fail the whole shared query for it.
    while (!stream.includes('\0') && start <= revisionMax && events.length < limit) {
      const part = { stream, from: start, limit: Math.min(limit - events.length, eventsPerStreamRead) }
      const found = await this.#reads.enqueue(part)
      events.push(...found)
      if (found.length < part.limit) break
      start += found.length
    }
    return events
  }

  async readAll(after: number, limit: number, filter: LogFilter = {}): Promise<readonly StoredEvent[]> {
    const events: StoredEvent[] = []
    let through = after
    while (events.length < limit) {
      const window = await this.window(through, limit - events.length, filter)
      events.push(...window.events)
      through = window.through
      if (through >= window.head) break
    }
    return events
  }

  async window(after: number, limit: number, { categories }: LogFilter): Promise<Window> {
    const values = [after, categories ? eventsLookedAt : limit, categories ?? null, limit]
    const query = { name: 'read-window', text: readWindow, values, rowMode: 'array' } as const
    const { rows } = await this.#pool.query<WindowRow>(query)
    const [head = 0, , , , , , , , reach = null] = rows[0] ?? []
    const events: StoredEvent[] = []
    for (const row of rows) if (row[1] !== null) events.push(storedEvent(row))
    const last = events.at(-1)
    if (last) this.#seen.note(last)
    const through = reach ?? last?.position ?? after
    return { events, through, head }
  }

  async head(): Promise<number> {
    const text = 'select coalesce(max(position), 0) as head from events'
    const { rows } = await this.#pool.query<{ head: number }>({ name: 'read-head', text })
    return rows[0]?.head ?? 0
  }

  async #readStreams(reads: readonly StreamRead[]): Promise<readonly StoredEvent[][]> {
    const streams = reads.map(({ stream }) => stream)
    const values = [streams, reads.map(({ from }) => from), reads.map(({ limit }) => limit)]
    const query = { name: 'read-streams', text: readStreams, values, rowMode: 'array' } as const
    const { rows } = await this.#pool.query<EventRow>(query)
    const found = reads.map((): StoredEvent[] => [])
    for (const row of rows) {
      const event = storedEvent(row)
      this.#seen.note(event)
      found[row[0] - 1]?.push(event)
    }
    return found
  }
}

function storedEvent(row: readonly [...EventRow, ...unknown[]]): StoredEvent {
  const [, stream, revision, position, id, type, data, metadata] = row
  return { stream, revision, position, id, type, data, metadata }
}
