import type pg from 'pg'
import { readSchema } from './read-models/tables.ts'

/** What has not ended in time, in one environment; ages in seconds, 0 where there is nothing. */
export interface WaitingTimers {
  readonly livemode: boolean
  /** Age of the oldest overdue timer. */
  readonly lagSeconds: number
  /** Age of the oldest payout that an operator has said nothing about: its money is in clearing. */
  readonly clearingSeconds: number
  /**
   * Age of the oldest payment that arrived after its intent ended and is not given back: its money is in
   * suspense.
   */
  readonly suspenseSeconds: number
  /** Payouts in progress that are later than expected. */
  readonly payoutsDelayed: number
}

const timersCounted = 100_000

/**
 * A timer goes when what it waits for has arrived, so the due ones are the few slow things: the index on due
 * times finds them, and everything else is looked up by key. A payout's timer `payout_late` is gone once it
 * was found late.
 */
const statement = `
  with due as materialized (
    select id, kind, subject, livemode, due_at from ${readSchema}.timers
    where due_at <= $1 order by due_at limit ${timersCounted}
  ), tried as (
    select due.*, a.again_at,
      due.kind = 'payout_status' and not exists (
        select from ${readSchema}.timers late where late.id = 'payout_late:' || due.subject) as is_delayed
    from due left join timer_attempts a on a.id = due.id and a.due_at = due.due_at
  ), aged as (
    select livemode, kind, is_delayed, extract(epoch from $1 - due_at)::float8 as age,
      case when coalesce(again_at, due_at) <= $1
        then extract(epoch from $1 - coalesce(again_at, due_at))::float8 end as lag
    from tried
  )
  select environments.livemode,
    coalesce(max(lag), 0) as "lagSeconds",
    coalesce(max(age) filter (where kind = 'payout_status'), 0) as "clearingSeconds",
    coalesce(max(age) filter (where kind = 'late_refund'), 0) as "suspenseSeconds",
    count(*) filter (where is_delayed) as "payoutsDelayed"
  from (values (true), (false)) as environments (livemode) left join aged using (livemode)
  group by 1`

export async function waitingTimers(pool: pg.Pool, now: Date): Promise<readonly WaitingTimers[]> {
  return (await pool.query<WaitingTimers>(statement, [now])).rows
}
