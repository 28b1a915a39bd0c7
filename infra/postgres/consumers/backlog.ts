import type pg from 'pg'

/** So long, what is tried again by itself alarms nobody, nor what waits behind it. */
const patience = `interval '15 minutes'`

/** Outstanding work, by who has to do it. */
export interface Backlog {
  /** Consumers other than read models, by name. */
  readonly positions: Readonly<Record<string, number>>
  /** Parked events by consumer; all read models together as `read_models`. */
  readonly parked: Readonly<Record<string, number>>
  readonly deliveriesPending: number
}

const deliveriesCounted = 100_000

export async function backlog(pool: pg.Pool): Promise<Backlog> {
  const { rows } = await pool.query<Backlog>(`
    select
      (select coalesce(json_object_agg(name, position), '{}') from checkpoints where name not like 'read.%')
        as positions,
      (select coalesce(json_object_agg(consumer, count), '{}') from (
        select case when consumer like 'read.%' then 'read_models' else split_part(consumer, ' ', 1) end
          as consumer, count(*) as count
        from (
          select consumer, parked_at, first_value(retry_at) over (partition by consumer order by position) as again
          from parked) each
        where again is null or parked_at < now() - ${patience} group by 1) per_consumer) as parked,
      (select count(*) from (
        select from deliveries where status = 'pending' limit ${deliveriesCounted}) counted)
        as "deliveriesPending"`)
  return rows[0]!
}
