/** A process that was taken for dead claims nothing more under its old name: nobody would release it. */
export function isAlive(worker: string): string {
  return `(select exists (select from webhook_workers where id = ${worker}))`
}

/**
 * Walks from endpoint to endpoint along the indexes of waiting rows. $1 worker, $2 now, $3 endpoint to start
 * after, $4 endpoints.
 */
const walk = `
  walk (endpoint, step) as (
    select $3::uuid, 0 where ${isAlive('$1')}
    union all
    select least(
      (select endpoint from deliveries
       where place = 'waiting' and due_at is null and endpoint > walk.endpoint
       order by endpoint limit 1),
      (select endpoint from deliveries
       where place = 'waiting' and due_at is not null and endpoint > walk.endpoint
       order by endpoint limit 1)
    ), step + 1
    from walk where walk.endpoint is not null and step < $4::integer
  )`

/** The endpoints of such a walk that have something due, with their owners. */
export const dueStatement = `
  with recursive ${walk}
  select walk.endpoint, due.merchant, due.livemode
  from walk cross join lateral (
    (select merchant, livemode from deliveries
     where endpoint = walk.endpoint and place = 'waiting' and due_at is null
     order by sequence limit 1)
    union all
    (select merchant, livemode from deliveries
     where endpoint = walk.endpoint and place = 'waiting' and due_at <= $2
     order by due_at limit 1)
    limit 1
  ) due
  where walk.step > 0`

/**
 * Takes from each endpoint of such a walk as many as it has room for: half of them first attempts in order of
 * their events, half retries and replays by due time. $5 rooms, $6 default room, $7 limit.
 */
export const claimStatement = `
  with recursive ${walk},
  rooms as (
    select endpoint, step, (coalesce(($5::jsonb ->> endpoint::text)::integer, $6::integer) + 1) / 2 as half
    from walk where step > 0 and endpoint is not null
  ),
  picked as (
    select due.id, rooms.endpoint
    from rooms cross join lateral (
      (select id from deliveries waiting
       where endpoint = rooms.endpoint and place = 'waiting' and due_at is null
       and not exists (
         select from deliveries other
         where other.endpoint = waiting.endpoint and other.resource = waiting.resource
           and other.place = 'held' and other.worker <> $1 and other.status = 'pending'
           and other.due_at is null
       )
       order by sequence limit rooms.half)
      union all
      (select id from deliveries
       where endpoint = rooms.endpoint and place = 'waiting' and due_at <= $2
       order by due_at, sequence limit rooms.half)
    ) due
    order by rooms.step limit $7::integer
  ),
  claimed as (
    update deliveries set worker = $1, unlisted = null from picked where deliveries.id = picked.id
    returning deliveries.id, deliveries.endpoint, merchant, livemode, event, sequence as position, resource,
      attempts, replay
  ),
  cursor as (
    select case when (select count(*) from picked) >= $7::integer
      then (select endpoint from picked order by endpoint desc limit 1)
      else (select endpoint from walk where step = $4::integer) end as last
  )
  select claimed.*, public_events.type, public_events.payload, public_events.traceparent, cursor.last
  from cursor left join (claimed join public_events on public_events.id = claimed.event) on true`
