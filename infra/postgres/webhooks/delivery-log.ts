import type pg from 'pg'

export const deliveryStatuses = ['pending', 'succeeded', 'failed', 'skipped'] as const

/** A delivery as people look at it. */
export interface LoggedDelivery {
  readonly id: number
  /** Public id of the event. */
  readonly event: string
  readonly type: string
  /** UUID. */
  readonly endpoint: string
  readonly livemode: boolean
  readonly status: (typeof deliveryStatuses)[number]
  readonly attempts: number
  readonly isReplay: boolean
  readonly dueAt: string | null
  readonly lastAttemptAt: string | null
  /** Null when no HTTP answer came. */
  readonly lastStatus: number | null
  readonly lastAnswer: string | null
  readonly createdAt: string
}

export interface DeliveryFilter {
  readonly id?: number | undefined
  readonly endpoint?: string | undefined
  readonly event?: string | undefined
}

const columns = `
  delivery.id, delivery.event, event.type, delivery.endpoint, delivery.livemode, delivery.status,
  delivery.attempts, delivery.replay is not null as "isReplay", delivery.due_at as "dueAt",
  delivery.last_attempt_at as "lastAttemptAt", delivery.last_status as "lastStatus",
  delivery.last_answer as "lastAnswer", delivery.created_at as "createdAt"`

/** Null in a filter matches everything. */
const fits = `
  delivery.id = coalesce($1::bigint, delivery.id)
  and delivery.endpoint = coalesce($2::uuid, delivery.endpoint)
  and delivery.event = coalesce($3::text, delivery.event)`

function values({ id, endpoint, event }: DeliveryFilter): unknown[] {
  return [id ?? null, endpoint ?? null, event ?? null]
}

export interface DeliveryQuery extends DeliveryFilter {
  readonly status?: LoggedDelivery['status'] | undefined
  readonly limit: number
}

/** Newest first. */
export async function listDeliveries(
  pool: pg.Pool,
  query: DeliveryQuery,
): Promise<readonly LoggedDelivery[]> {
  const { rows } = await pool.query<LoggedDelivery>(
    `select ${columns} from deliveries delivery join public_events event on event.id = delivery.event
     where ${fits} and delivery.status = coalesce($4::text, delivery.status)
     order by delivery.id desc limit $5`,
    [...values(query), query.status ?? null, query.limit],
  )
  return rows
}

/**
 * Makes everything that failed, was skipped or waits for a retry due now; returns how many. What was
 * delivered, or is being delivered, is left alone.
 */
export async function retryDeliveries(pool: pg.Pool, filter: DeliveryFilter, now: Date): Promise<number> {
  const { rowCount } = await pool.query(
    `update deliveries delivery set status = 'pending', due_at = $4::timestamptz
     where ${fits} and worker is null
       and (status in ('failed', 'skipped') or (status = 'pending' and due_at > $4::timestamptz))`,
    [...values(filter), now],
  )
  return rowCount ?? 0
}
