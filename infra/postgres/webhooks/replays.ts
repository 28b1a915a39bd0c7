import type pg from 'pg'
import type { MissedEvents } from '../../../packages/kernel/message-ports.ts'
import { missedCondition, missedValues } from './public-events.ts'
import { inTransaction } from '../client/transaction.ts'

export interface ReplayPlan {
  readonly replay: string
  readonly now: Date
  /** One event to several endpoints, or all that one endpoint missed. */
  readonly what:
    { readonly event: string; readonly endpoints: readonly string[] } | { readonly missed: MissedEvents }
}

export interface ReplayProgress {
  readonly deliveries: number
  readonly pending: number
  readonly succeeded: number
}

/** The deliveries of replays. */
export class Replays {
  readonly #pool: pg.Pool

  constructor(pool: pg.Pool) {
    this.#pool = pool
  }

  /** Writes down a replay's deliveries, all or none, the first time it is called for it. */
  plan({ replay, now, what }: ReplayPlan): Promise<void> {
    return inTransaction(this.#pool, async (connection) => {
      const text =
        'insert into webhook_replay_plans (replay, planned_at) values ($1, $2) on conflict do nothing'
      const { rowCount } = await connection.query(text, [replay, now])
      if (rowCount === 1) await connection.query(deliveriesOf(replay, now, what))
    })
  }

  /** How far a replay has come; `undefined` when it has no plan yet. */
  async progress(replay: string): Promise<ReplayProgress | undefined> {
    const query = { name: 'replay progress', text: progressStatement, values: [replay] }
    const { rows } = await this.#pool.query<ReplayProgress>(query)
    return rows[0]
  }
}

const progressStatement = `
  select count(delivery.id) as deliveries, count(*) filter (where status = 'pending') as pending,
    count(*) filter (where status = 'succeeded') as succeeded
  from webhook_replay_plans plan left join deliveries delivery on delivery.replay = plan.replay
  where plan.replay = $1 group by plan.replay`

const insertReplays = `
  insert into deliveries
    (endpoint, event, replay, merchant, livemode, sequence, resource, due_at, created_at)`

function deliveriesOf(replay: string, now: Date, what: ReplayPlan['what']): pg.QueryConfig {
  if ('event' in what) {
    const text = `${insertReplays}
      select endpoint, event.id, $1, merchant, livemode, sequence, resource, $2::timestamptz, $2::timestamptz
      from public_events event cross join unnest($3::uuid[]) as endpoint where event.id = $4
      on conflict do nothing`
    return { text, values: [replay, now, what.endpoints, what.event] }
  }
  const text = `${insertReplays}
    select $1::uuid, event.id, $8, merchant, livemode, sequence, resource, $9::timestamptz, $9::timestamptz
    from public_events event where ${missedCondition}
    on conflict do nothing`
  return { text, values: [...missedValues(what.missed), replay, now] }
}
