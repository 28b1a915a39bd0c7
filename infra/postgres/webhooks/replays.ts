import type pg from 'pg'
import type { MissedEvents } from '../../../packages/kernel/ports/messages.ts'
import type { MerchantOwner } from '../../../packages/kernel/owner.ts'
import { missedCondition, missedValues, positionOf } from './public-events.ts'
import { inTransaction } from '../client/transaction.ts'

export interface ReplayPlan {
  readonly replay: string
  readonly now: Date
  /** One event to several endpoints, or everything that one endpoint missed. */
  readonly what:
    { readonly event: string; readonly endpoints: readonly string[] } | { readonly missed: MissedEvents }
}

/** A replay to be planned, or one whose deliveries have all been tried. */
export interface OpenReplay extends MerchantOwner {
  readonly id: string
  /** Position of the request in the log. */
  readonly created: number
  readonly state: unknown
  readonly isPlanned: boolean
}

export interface OpenReplays {
  /** The oldest ones in progress of a merchant and environment are looked at. */
  readonly perOwnerMax: number
  /** Of these, so many to the same endpoint, or to all of them. */
  readonly perEndpointMax: number
  readonly limit: number
  /** Ids to leave out. */
  readonly without: readonly string[]
}

export interface ReplayResult {
  readonly deliveries: number
  readonly succeeded: number
}

/** The deliveries of replays. */
export class Replays {
  readonly #pool: pg.Pool

  constructor(pool: pg.Pool) {
    this.#pool = pool
  }

  /** Inserts a replay's deliveries, all or none, the first time it is called for it. */
  plan({ replay, now, what }: ReplayPlan): Promise<void> {
    return inTransaction(this.#pool, async (connection) => {
      const text =
        'insert into webhook_replay_plans (replay, planned_at) values ($1, $2) on conflict do nothing'
      const { rowCount } = await connection.query(text, [replay, now])
      if (rowCount === 1) await connection.query(deliveriesOf(replay, now, what))
    })
  }

  /** Outstanding work: replays without a plan first, and owners and their endpoints in turns. */
  async open({ perOwnerMax, perEndpointMax, limit, without }: OpenReplays): Promise<readonly OpenReplay[]> {
    const values = [perOwnerMax, perEndpointMax, limit, without]
    const { rows } = await this.#pool.query<OpenReplay>({ name: 'open replays', text: openStatement, values })
    return rows
  }

  /** Results of a replay's deliveries. */
  async result(replay: string): Promise<ReplayResult> {
    const query = { name: 'replay result', text: resultStatement, values: [replay] }
    const { rows } = await this.#pool.query<ReplayResult>(query)
    return rows[0]!
  }
}

/**
 * Walks from owner to owner along the index of replays in progress, so that a replay with a hundred thousand
 * deliveries costs as much as one with a few. A delivery of a replay has a place while it waits or is
 * claimed.
 */
const openStatement = `
  with recursive owners as (
    (select merchant, livemode from read.webhook_replays
     where status = 'running' order by merchant, livemode limit 1)
    union all
    select next.merchant, next.livemode
    from owners cross join lateral (
      select merchant, livemode from read.webhook_replays
      where status = 'running' and (merchant, livemode) > (owners.merchant, owners.livemode)
      order by merchant, livemode limit 1
    ) next
  )
  select replay.id, replay.merchant, replay.livemode, replay.created, replay.state,
    plan.replay is not null as "isPlanned"
  from owners cross join lateral (
    select oldest.*, row_number() over (partition by state ->> 'endpoint' order by created) as turn
    from (
      select id, merchant, livemode, created, state from read.webhook_replays
      where status = 'running' and merchant = owners.merchant and livemode = owners.livemode
        and id <> all($4::text[])
      order by created limit $1
    ) oldest
  ) replay
  left join webhook_replay_plans plan on plan.replay = replay.id::uuid
  where replay.turn <= $2 and (plan.replay is null or not exists (
    select from deliveries where deliveries.replay = plan.replay and deliveries.place is not null))
  order by plan.replay is not null, replay.turn, replay.created limit $3`

const resultStatement = `
  select count(*) as deliveries, count(*) filter (where status = 'succeeded') as succeeded
  from deliveries where replay = $1`

const insertReplays = `
  insert into deliveries
    (endpoint, event, replay, merchant, livemode, sequence, resource, due_at, created_at)`

function deliveriesOf(replay: string, now: Date, what: ReplayPlan['what']): pg.QueryConfig {
  if ('event' in what) {
    const text = `${insertReplays}
      select endpoint, event.id, $1, merchant, livemode, ${positionOf}, resource, $2::timestamptz, $2::timestamptz
      from public_events event cross join unnest($3::uuid[]) as endpoint where event.id = $4
      on conflict do nothing`
    return { text, values: [replay, now, what.endpoints, what.event] }
  }
  const text = `${insertReplays}
    select $1::uuid, event.id, $8, merchant, livemode, ${positionOf}, resource, $9::timestamptz, $9::timestamptz
    from public_events event where ${missedCondition}
    on conflict do nothing`
  return { text, values: [...missedValues(what.missed), replay, now] }
}
