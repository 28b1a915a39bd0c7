import type pg from 'pg'
import type { Postgres } from '../client/connect.ts'
import { shareOf } from '../client/shared-reads.ts'
import type {
  DeliveriesPage,
  DeliveriesQuery,
  EventDelivery,
  MissedEvents,
  PublicEvent,
  PublicEvents,
} from '../../../packages/kernel/ports/messages.ts'
import type { MerchantOwner } from '../../../packages/kernel/owner.ts'
import { encodeTextArray } from '../client/encode-text-array.ts'

export interface DatedPublicEvent extends PublicEvent {
  /** RFC 3339. */
  readonly createdAt: string
}

/** Stores public events; returns how many of them were new. */
export async function keepPublicEvents(
  database: pg.Pool | pg.ClientBase,
  events: readonly DatedPublicEvent[],
): Promise<number> {
  const { rowCount } = await database.query({
    name: 'keep public events',
    text: `
      insert into public_events
        (id, sequence, type, merchant, livemode, resource, payload, created_at, traceparent, position)
      select * from unnest(
        string_to_array($1, E'\\x1f'), string_to_array($2, E'\\x1f')::bigint[],
        string_to_array($3, E'\\x1f'), string_to_array($4, E'\\x1f')::uuid[],
        string_to_array($5, E'\\x1f')::boolean[], string_to_array($6, E'\\x1f'),
        string_to_array($7, E'\\x1f'), string_to_array($8, E'\\x1f')::timestamptz[],
        string_to_array($9, E'\\x1f', ''), string_to_array($10, E'\\x1f')::bigint[])
      on conflict (id) do nothing`,
    values: [
      events.map(({ id }) => id),
      events.map(({ sequence }) => sequence),
      events.map(({ type }) => type),
      events.map(({ merchant }) => merchant),
      events.map(({ livemode }) => livemode),
      events.map(({ resource }) => resource),
      events.map(({ payload }) => payload),
      events.map(({ createdAt }) => createdAt),
      events.map(({ traceparent }) => traceparent),
      events.map(({ position }) => position),
    ].map(encodeTextArray),
  })
  return rowCount ?? 0
}

/** Older relays stored no position, because the sequence was the position. */
export const positionOf = 'coalesce(event.position, event.sequence)'
const columns = `id, type, merchant, livemode, resource, sequence, ${positionOf} as position, payload`

/** Position in the log of a public event. */
export async function positionOfPublicEvent(pool: pg.Pool, id: string): Promise<number | undefined> {
  const text = `select ${positionOf} as position from public_events event where id = $1`
  const { rows } = await pool.query<{ position: number }>(text, [id])
  return rows[0]?.position
}

/** Those of these ids that are stored. */
export async function publicEventsOf(pool: pg.Pool, ids: readonly string[]): Promise<readonly PublicEvent[]> {
  const text = `select ${columns} from public_events event where id = any($1)`
  const { rows } = await pool.query<PublicEvent>(text, [ids])
  return rows
}

export function postgresPublicEvents({ pool, reads }: Pick<Postgres, 'pool' | 'reads'>): PublicEvents {
  return {
    async find(id, { merchant, livemode }) {
      const { rows } = await pool.query<PublicEvent>({
        name: 'find public event',
        text: `
          select ${columns} from public_events event where id = $1 and merchant = $2 and livemode = $3`,
        values: [id, merchant, livemode],
      })
      return rows[0]
    },
    async countMissed(missed) {
      const [row] = await reads.query<{ count: number }>(shareOf(missed), {
        name: 'count missed events',
        text: `select count(*) as count from public_events event where ${missedCondition}`,
        values: missedValues(missed),
      })
      return row?.count ?? 0
    },
    deliveries: (id, owner) => deliveriesOf(pool, id, owner),
    deliveriesTo: (query) => deliveriesTo(pool, query),
    async feed({ merchant, livemode, after, types, limit }) {
      return reads.query<PublicEvent>(shareOf({ merchant, livemode }), {
        name: 'feed of public events',
        text: `
          select ${columns} from public_events event
          where merchant = $1 and livemode = $2 and sequence > $3 and ($4::text[] is null or type = any($4))
          order by sequence limit $5`,
        values: [merchant, livemode, after, types ?? null, limit],
      })
    },
  }
}

const deliveryColumns = `
  event.id as event, delivery.endpoint, delivery.status, delivery.attempts,
  delivery.replay is not null as "isReplay", delivery.due_at as "dueAt",
  delivery.last_attempt_at as "lastAttemptAt", delivery.last_status as "lastStatus",
  delivery.last_answer as "lastAnswer"`

/** Deliveries are found by the event's position, not its id. */
const deliveriesOfEvent = `
  deliveries delivery on delivery.sequence = ${positionOf} and delivery.event = event.id`

async function deliveriesOf(pool: pg.Pool, id: string, { merchant, livemode }: MerchantOwner) {
  const { rows } = await pool.query<EventDelivery>({
    name: 'deliveries of public event',
    text: `
      select ${deliveryColumns} from public_events event join ${deliveriesOfEvent}
      where event.id = $1 and event.merchant = $2 and event.livemode = $3
      order by delivery.id desc limit 100`,
    values: [id, merchant, livemode],
  })
  return rows
}

/** Events looked at for one page, however few of them the endpoint was sent. */
const eventsPerPage = 1_000

/**
 * Along the owner's feed, because an index of deliveries by endpoint would cost every delivery. A page ends
 * with all deliveries of its last event, so that the next one begins with another event.
 */
async function deliveriesTo(pool: pg.Pool, query: DeliveriesQuery): Promise<DeliveriesPage> {
  const { endpoint, merchant, livemode, types, status, before, limit } = query
  const { rows } = await pool.query<EventDelivery & { sequence: number; last: number | null }>({
    name: 'deliveries to endpoint',
    text: `
      with event as materialized (
        select id, type, sequence, position from public_events
        where merchant = $2 and livemode = $3 and sequence < $6
        order by sequence desc limit $8
      ),
      page as (
        select event.sequence, delivery.id, ${deliveryColumns}
        from event join ${deliveriesOfEvent} and delivery.endpoint = $1
        where ($4::text[] is null or event.type = any($4)) and ($5::text is null or delivery.status = $5)
        order by event.sequence desc fetch first $7 rows with ties
      ),
      looked as (select case when count(*) = $8 then min(sequence) end as last from event)
      select page.*, looked.last from looked left join page on true order by page.sequence desc, page.id desc`,
    values: [
      endpoint,
      merchant,
      livemode,
      types ?? null,
      status ?? null,
      before ?? Number.MAX_SAFE_INTEGER,
      limit,
      eventsPerPage,
    ],
  })
  const deliveries = rows.filter(({ event }) => event !== null)
  const next = deliveries.length < limit ? rows[0]?.last : deliveries.at(-1)?.sequence
  return { deliveries, next: next ?? undefined }
}

/**
 * A first attempt in progress is not missed; one that waits for a retry has failed. Takes `missedValues` as
 * $1 to $7.
 */
export const missedCondition = `
  event.merchant = $2 and event.livemode = $3 and event.type = any($4) and event.created_at >= $5
  and ${positionOf} > $6 and ${positionOf} <= $7 and not exists (
    select from deliveries delivery
    where delivery.endpoint = $1 and delivery.sequence = ${positionOf}
      and (delivery.status = 'succeeded' or (delivery.status = 'pending' and delivery.attempts = 0))
  )`

export function missedValues({
  endpoint,
  merchant,
  livemode,
  types,
  since,
  after,
  through,
}: MissedEvents): unknown[] {
  return [endpoint, merchant, livemode, types, since, after, through]
}
