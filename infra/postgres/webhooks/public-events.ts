import type pg from 'pg'
import type {
  EventDelivery,
  MissedEvents,
  PublicEvent,
  PublicEvents,
} from '../../../packages/kernel/message-ports.ts'
import type { MerchantOwner } from '../../../packages/kernel/owner.ts'
import { encodeTextArray } from '../client/encode-text-array.ts'

export interface DatedPublicEvent extends PublicEvent {
  /** RFC 3339. */
  readonly createdAt: string
}

/** Stores what merchants are told; returns how many of the events were new. */
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

/** Position in the log of what a merchant was told. */
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

export function postgresPublicEvents(pool: pg.Pool): PublicEvents {
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
      const { rows } = await pool.query<{ count: number }>({
        name: 'count missed events',
        text: `select count(*) as count from public_events event where ${missedCondition}`,
        values: missedValues(missed),
      })
      return rows[0]?.count ?? 0
    },
    deliveries: (id, owner) => deliveriesOf(pool, id, owner),
    async feed({ merchant, livemode, after, types, limit }) {
      const { rows } = await pool.query<PublicEvent>({
        name: 'feed of public events',
        text: `
          select ${columns} from public_events event
          where merchant = $1 and livemode = $2 and sequence > $3 and ($4::text[] is null or type = any($4))
          order by sequence limit $5`,
        values: [merchant, livemode, after, types ?? null, limit],
      })
      return rows
    },
  }
}

/** They are found by the event's position, not its id. */
async function deliveriesOf(pool: pg.Pool, id: string, { merchant, livemode }: MerchantOwner) {
  const { rows } = await pool.query<EventDelivery>({
    name: 'deliveries of public event',
    text: `
      select delivery.endpoint, delivery.status, delivery.attempts,
        delivery.replay is not null as "isReplay", delivery.due_at as "dueAt",
        delivery.last_attempt_at as "lastAttemptAt", delivery.last_status as "lastStatus",
        delivery.last_answer as "lastAnswer"
      from public_events event join deliveries delivery
        on delivery.sequence = ${positionOf} and delivery.event = event.id
      where event.id = $1 and event.merchant = $2 and event.livemode = $3
      order by delivery.id desc limit 100`,
    values: [id, merchant, livemode],
  })
  return rows
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
