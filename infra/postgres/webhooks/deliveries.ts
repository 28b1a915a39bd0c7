import type pg from 'pg'
import type { MerchantOwner } from '../../../packages/kernel/owner.ts'
import { claimStatement, dueStatement, isAlive } from './delivery-claim.ts'
import { Consequences, type Consequence } from './consequences.ts'
import { alone, openDeliveryPool } from './delivery-session.ts'

/** A delivery that this process has claimed. */
export interface Delivery {
  readonly id: number
  readonly endpoint: string
  readonly merchant: string
  readonly livemode: boolean
  /** Public id of the event. */
  readonly event: string
  /** Of the event: `payout.paid`. */
  readonly type: string
  /** Position of the event in the log: the order of deliveries. */
  readonly position: number
  readonly resource: string
  /** Attempts that have ended. */
  readonly attempts: number
  readonly replay: string | null
  readonly payload: string
  /** W3C traceparent of the event; null when it is not traced. */
  readonly traceparent: string | null
}

export interface NewDelivery {
  readonly endpoint: string
  readonly merchant: string
  readonly livemode: boolean
  readonly event: string
  readonly position: number
  readonly resource: string
  /** This process has capacity to send it now. */
  readonly wanted: boolean
}

export interface Attempted {
  readonly id: number
  /** `skipped`: before its turn came, the endpoint was disabled, or no longer enabled for the event. */
  readonly status: 'pending' | 'succeeded' | 'failed' | 'skipped'
  readonly attempts: number
  /** When the next attempt is due; null when there is none. */
  readonly dueAt: Date | null
  readonly at: Date
  readonly httpStatus: number | null
  readonly answer: string
  readonly consequence: Consequence | null
}

export interface ClaimOptions {
  readonly now: Date
  /** Endpoints after this one have their turn; an empty string starts from the first. */
  readonly after: string
  /** How many deliveries an endpoint may be given; endpoints that are not named get `roomDefault`. */
  readonly rooms: Readonly<Record<string, number>>
  readonly roomDefault: number
  readonly limit: number
}

export interface Lease {
  readonly now: Date
  readonly until: Date
  readonly known: readonly number[] | undefined
}

export interface Claimed {
  readonly deliveries: readonly Delivery[]
  /** Where the next claim continues; an empty string when all endpoints had their turn. */
  readonly after: string
}

export interface DueEndpoint extends MerchantOwner {
  readonly endpoint: string
}

/** Endpoints looked at in one claim. */
const endpointsPerClaim = 500

/**
 * Rows of other processes are theirs until their lease has expired; then any process's `renewLease` releases
 * them. A claimed row is listed so that other processes find it; a process that is alone skips that, and
 * stores in its own row after which id all unlisted rows are.
 */
export class Deliveries {
  readonly #pool: pg.Pool
  readonly consequences: Consequences

  constructor(url: string) {
    this.#pool = openDeliveryPool(url)
    this.consequences = new Consequences(this.#pool)
  }

  close(): Promise<void> {
    return this.#pool.end()
  }

  /**
   * Inserts deliveries, once each, and claims the wanted ones: those with no earlier first attempt of the
   * same endpoint waiting, and none of the same resource claimed by another process, if there is one. Returns
   * the claimed ids, by endpoint and event.
   */
  async add(
    worker: string,
    now: Date,
    deliveries: readonly NewDelivery[],
  ): Promise<ReadonlyMap<string, number>> {
    const { rows } = await alone<{ id: number; key: string }>(this.#pool, {
      name: 'add deliveries',
      text: `
        with added as (
          insert into deliveries
            (endpoint, event, merchant, livemode, sequence, resource, created_at, unlisted, worker)
          select new.endpoint, new.event, new.merchant, new.livemode, new.position, new.resource, $3,
            not ${hasOthers},
            case when new.wanted and ${isAlive('$2')} and not exists (
              select from deliveries earlier
              where earlier.endpoint = new.endpoint and earlier.sequence < new.position
                and earlier.place = 'waiting' and earlier.due_at is null
            ) and not (${hasOthers} and exists (
              select from deliveries other
              where other.endpoint = new.endpoint and other.resource = new.resource and other.place = 'held'
                and other.worker <> $2 and other.status = 'pending' and other.due_at is null
            )) then $2::uuid end
          from json_to_recordset($1) as new (endpoint uuid, event text, merchant uuid, livemode boolean,
            position bigint, resource text, wanted boolean)
          order by new.position
          on conflict do nothing
          returning id, endpoint, event, worker
        )
        select id, endpoint || event as key from added where worker is not null`,
      values: [JSON.stringify(deliveries), worker, now],
    })
    return new Map(rows.map(({ id, key }) => [key, id]))
  }

  /** Endpoints of which the next claim would find something due, with their owners. */
  async due(
    worker: string,
    { now, after }: Pick<ClaimOptions, 'now' | 'after'>,
  ): Promise<readonly DueEndpoint[]> {
    const { rows } = await this.#pool.query<DueEndpoint>({
      name: 'due endpoints',
      text: dueStatement,
      values: [worker, now, after || firstUuid, endpointsPerClaim],
    })
    return rows
  }

  /**
   * Claims what is due, endpoint by endpoint, so that one with many waiting deliveries keeps no other from
   * its turn.
   */
  async claim(worker: string, { now, after, rooms, roomDefault, limit }: ClaimOptions): Promise<Claimed> {
    const { rows } = await alone<Delivery & { readonly last: string | null }>(this.#pool, {
      name: 'claim deliveries',
      text: claimStatement,
      values: [worker, now, after || firstUuid, endpointsPerClaim, JSON.stringify(rooms), roomDefault, limit],
    })
    const deliveries = rows.filter(({ id }) => id !== null).map(({ last: _, ...delivery }) => delivery)
    return {
      deliveries: deliveries.sort((one, other) => one.position - other.position),
      after: rows[0]?.last ?? '',
    }
  }

  /**
   * Records the results of attempts. Results recorded before, or claimed by another process by now, are
   * skipped. Everyone who changes several rows does so in order of their ids, so that no deadlock can arise.
   */
  async complete(worker: string, attempted: readonly Attempted[]): Promise<void> {
    await this.#pool.query({
      name: 'complete deliveries',
      text: `
        update deliveries set worker = null,
          status = done.status, attempts = done.attempts, due_at = done."dueAt",
          consequence = done.consequence, last_attempt_at = done.at, last_status = done."httpStatus",
          last_answer = done.answer
        from (
          select * from json_to_recordset($1) as done (id bigint, status text, attempts integer,
            "dueAt" timestamptz, at timestamptz, "httpStatus" integer, answer text, consequence jsonb)
          order by id
        ) done
        where deliveries.id = done.id and deliveries.worker = $2`,
      values: [JSON.stringify(attempted), worker],
    })
  }

  /** Releases what this process has claimed but does not know of. */
  async release(worker: string, known: readonly number[]): Promise<void> {
    await alone(this.#pool, {
      name: 'release deliveries',
      text: `
        update deliveries set worker = null from (${claimsOf('webhook_workers')}) hand
        where ${isIn('hand')} and hand.worker = $1 and status = 'pending' and deliveries.id <> all($2)`,
      values: [worker, known],
    })
  }

  /**
   * Renews this process's lease until then, and releases the rows of expired ones. `known` is all that it has
   * claimed, or `undefined` when it does not know. False: it was taken for dead meanwhile.
   */
  async renewLease(worker: string, { now, until, known }: Lease): Promise<boolean> {
    const { rows } = await alone<{ alive: boolean }>(this.#pool, {
      name: 'renew lease',
      text: `
        with dead as (delete from webhook_workers where alive_until < $2 and id <> $1 returning *),
        freed as (
          update deliveries set worker = null from (${claimsOf('dead')}) hand where ${isIn('hand')}
        ),
        renewed as (
          update webhook_workers set alive_until = $3, unlisted_after = case
            when $4::bigint[] is null then unlisted_after
            else coalesce(
              (select min(id) - 1 from deliveries where id = any($4) and worker = $1 and unlisted), ${newest})
            end
          where id = $1 returning id
        )
        select exists (select from renewed) as alive`,
      values: [worker, now, until, known],
    })
    return rows[0]?.alive === true
  }

  /** A process that was alone until now gets its claims listed. */
  async begin(worker: string, until: Date): Promise<void> {
    await alone(this.#pool, {
      name: 'begin worker',
      text: `
        with begun as (
          insert into webhook_workers (id, alive_until, unlisted_after) values ($1, $2, ${newest})
        )
        update deliveries set unlisted = null from (${claimsOf('webhook_workers')}) hand
        where ${isIn('hand')} and deliveries.unlisted`,
      values: [worker, until],
    })
  }

  /** Releases everything and leaves. */
  async end(worker: string): Promise<void> {
    await alone(this.#pool, {
      name: 'end worker',
      text: `
        with gone as (delete from webhook_workers where id = $1 returning *)
        update deliveries set worker = null from (${claimsOf('gone')}) hand where ${isIn('hand')}`,
      values: [worker],
    })
  }
}

const hasOthers = '(select exists (select from webhook_workers where id <> $2))'
const newest = '(select coalesce(max(id), 0) from deliveries)'

/** What these processes, rows of `webhook_workers`, have claimed. */
function claimsOf(workers: string): string {
  return `
    select listed.id, listed.worker from ${workers} owner
    join deliveries listed on listed.place = 'held' and listed.worker = owner.id
    union all
    select fresh.id, fresh.worker from ${workers} owner
    join deliveries fresh on fresh.id > owner.unlisted_after and fresh.worker = owner.id and fresh.unlisted`
}

/** Reads the worker again, because another process may just have changed the row. */
function isIn(hand: string): string {
  return `deliveries.id = ${hand}.id and deliveries.worker = ${hand}.worker`
}

const firstUuid = '00000000-0000-0000-0000-000000000000'
