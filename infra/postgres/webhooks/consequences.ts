import type pg from 'pg'

/** What the endpoint's own history has to record of a delivery. */
export type Consequence =
  | { readonly kind: 'recovered' }
  | { readonly kind: 'exhausted' }
  | { readonly kind: 'gone'; readonly url: string }

export interface PendingConsequence {
  readonly id: number
  readonly endpoint: string
  readonly merchant: string
  readonly livemode: boolean
  readonly event: string
  readonly consequence: Consequence
  /** How often it was tried and postponed. */
  readonly tries: number
}

/** Results of deliveries that have not been passed on yet. */
export class Consequences {
  readonly #pool: pg.Pool

  constructor(pool: pg.Pool) {
    this.#pool = pool
  }

  /** Claims due consequences that no other process has; those with a mail come last. */
  async take(worker: string, now: Date, limit: number): Promise<readonly PendingConsequence[]> {
    const { rows } = await this.#pool.query<PendingConsequence>({
      name: 'take consequences',
      text: `
        update deliveries set worker = $1, unlisted = null
        where id in (
          select id from deliveries where consequence is not null and (worker is null or worker = $1)
            and coalesce((consequence ->> 'notBefore')::timestamptz, $2) <= $2
          order by consequence ->> 'kind' <> 'recovered', id limit $3 for update skip locked
        )
        returning id, endpoint, merchant, livemode, event, consequence,
          coalesce((consequence ->> 'tries')::integer, 0) as tries`,
      values: [worker, now, limit],
    })
    return rows
  }

  async settle(worker: string, ids: readonly number[]): Promise<void> {
    await this.#pool.query({
      name: 'settle consequences',
      text: 'update deliveries set consequence = null, worker = null where id = any($2) and worker = $1',
      values: [worker, ids],
    })
  }

  /** Releases consequences until that time. */
  async postpone(worker: string, ids: readonly number[], until: Date): Promise<void> {
    await this.#pool.query({
      name: 'postpone consequences',
      text: `
        update deliveries set worker = null, consequence = consequence || jsonb_build_object(
          'notBefore', $3::timestamptz, 'tries', coalesce((consequence ->> 'tries')::integer, 0) + 1)
        where id = any($2) and worker = $1`,
      values: [worker, ids, until],
    })
  }
}
