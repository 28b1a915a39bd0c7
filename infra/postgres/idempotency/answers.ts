import type { Postgres } from '../client/connect.ts'
import { shareOf, type SharedReads } from '../client/shared-reads.ts'
import type pg from 'pg'
import { asMerchant } from '../../../packages/kernel/owner.ts'
import type {
  Answer,
  AnswerKey,
  Answers,
  AnswerState,
  KnownAnswer,
} from '../../../packages/kernel/ports/reads.ts'

/**
 * A request not renewed for this long is taken for dead. If its process was only suspended, the request is
 * carried out twice, which is harmless: every command may be repeated.
 */
const leaseMs = 10_000
const renewalsPerLease = 4
/** Domain model 1.4: answers are replayed for 30 days. The key is its request's own for ever. */
const keptDays = 30

const mine = 'merchant = $1 and livemode = $2 and operation = $3 and key = $4'

const beginStatement = `
  insert into answers as a (merchant, livemode, operation, key, fingerprint, status, started_at, in_hand_at)
  values ($1, $2, $3, $4, $5, 'running', now(), now())
  on conflict (merchant, livemode, operation, key)
    do update set status = 'running', started_at = now(), in_hand_at = now()
  where a.fingerprint = $5 and (a.started_at < now() - interval '${keptDays} days'
    or (a.status = 'running'
      and coalesce(a.in_hand_at, a.started_at) < now() - $6 * interval '1 millisecond'))
  returning xmax <> 0 as "isResumed"`

const renewStatement = `
  update answers set in_hand_at = now()
  from unnest($1::uuid[], $2::boolean[], $3::text[], $4::text[]) as mine (merchant, livemode, operation, key)
  where answers.merchant = mine.merchant and answers.livemode = mine.livemode
    and answers.operation = mine.operation and answers.key = mine.key and answers.status = 'running'`

/** Stored answers of keyed requests. */
export class PostgresAnswers implements Answers {
  readonly #pool: pg.Pool
  readonly #reads: SharedReads
  readonly #leaseMs: number
  /** Requests that this process is carrying out. */
  readonly #inHand = new Map<string, AnswerKey>()
  #renewals: NodeJS.Timeout | undefined
  #isRenewing = false

  constructor({ pool, reads }: Pick<Postgres, 'pool' | 'reads'>, limits = { leaseMs }) {
    this.#pool = pool
    this.#reads = reads
    this.#leaseMs = limits.leaseMs
  }

  async begin(key: AnswerKey, fingerprint: string): Promise<AnswerState> {
    const begun = await this.#pool.query<{ isResumed: boolean }>(beginStatement, [
      ...values(key),
      fingerprint,
      this.#leaseMs,
    ])
    if (begun.rows[0]) {
      this.#take(key)
      return { state: 'begun', ...begun.rows[0] }
    }
    const { rows } = await this.#pool.query<{
      fingerprint: string
      status: string
      http_status: number
      body: unknown
    }>(`select fingerprint, status, http_status, body from answers where ${mine}`, values(key))
    const [row] = rows
    if (!row) return this.begin(key, fingerprint)
    if (row.fingerprint !== fingerprint) return { state: 'other_request' }
    if (row.status === 'running') return { state: 'running' }
    return { state: 'done', fingerprint, answer: { status: row.http_status, body: row.body } }
  }

  async finish(key: AnswerKey, { status, body }: Answer): Promise<void> {
    this.#drop(key)
    await this.#pool.query(
      `update answers set status = 'done', http_status = $5, body = $6, finished_at = now() where ${mine}`,
      [...values(key), status, JSON.stringify(body)],
    )
  }

  async abandon(key: AnswerKey): Promise<void> {
    this.#drop(key)
    await this.#pool.query(`delete from answers where ${mine} and status = 'running'`, values(key))
  }

  async release(key: AnswerKey): Promise<void> {
    this.#drop(key)
    await this.#pool.query(
      `update answers set in_hand_at = '-infinity' where ${mine} and status = 'running'`,
      values(key),
    )
  }

  /** Keys are found by their operation; without one, all answers of the owner may have to be looked at. */
  lookup(merchant: string, livemode: boolean, key: string): Promise<readonly KnownAnswer[]> {
    return this.#reads.query<KnownAnswer>(shareOf({ merchant, livemode }), {
      text: `
        select operation, status, http_status as "httpStatus", body, started_at as "startedAt" from answers
        where merchant = $1 and livemode = $2 and key = $3 order by started_at`,
      values: [merchant, livemode, key],
    })
  }

  #take(key: AnswerKey): void {
    this.#inHand.set(JSON.stringify(values(key)), key)
    const everyMs = this.#leaseMs / renewalsPerLease
    this.#renewals ??= setInterval(() => void this.#renew(), everyMs).unref()
  }

  #drop(key: AnswerKey): void {
    this.#inHand.delete(JSON.stringify(values(key)))
    if (this.#inHand.size > 0) return
    clearInterval(this.#renewals)
    this.#renewals = undefined
  }

  async #renew(): Promise<void> {
    if (this.#isRenewing) return
    this.#isRenewing = true
    const keys = [...this.#inHand.values()]
    const rows = keys.map(values)
    const columns = [0, 1, 2, 3].map((column) => rows.map((row) => row[column]))
    // What cannot be renewed now is renewed next time, or carried out by another process as well.
    await this.#pool.query(renewStatement, columns).catch(() => undefined)
    this.#isRenewing = false
  }
}

function values(answer: AnswerKey): (string | boolean)[] {
  const { merchant, livemode } = asMerchant(answer)
  const { operation, key } = answer
  return [merchant, livemode, operation, key]
}
