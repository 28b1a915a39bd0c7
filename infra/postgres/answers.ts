import type pg from 'pg'
import type {
  Answer,
  AnswerKey,
  Answers,
  AnswerState,
  KnownAnswer,
} from '../../packages/kernel/read-ports.ts'

/** Whoever began longer ago than this has died. */
const leaseSeconds = 60
/** Domain model 1.4: answers are replayed for 30 days. */
const keptDays = 30

const mine = 'merchant = $1 and livemode = $2 and operation = $3 and key = $4'

/** Answers of keyed requests in Postgres. */
export class PostgresAnswers implements Answers {
  readonly #pool: pg.Pool

  constructor(pool: pg.Pool) {
    this.#pool = pool
  }

  async begin(key: AnswerKey, fingerprint: string): Promise<AnswerState> {
    const begun = await this.#pool.query(
      `insert into answers as a (merchant, livemode, operation, key, fingerprint, status, started_at)
       values ($1, $2, $3, $4, $5, 'running', now())
       on conflict (merchant, livemode, operation, key)
         do update set fingerprint = $5, status = 'running', started_at = now()
       where (a.status = 'running' and a.fingerprint = $5 and a.started_at < now() - interval '${leaseSeconds} seconds')
          or a.started_at < now() - interval '${keptDays} days'`,
      [...values(key), fingerprint],
    )
    if (begun.rowCount === 1) return { state: 'begun' }
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
    await this.#pool.query(
      `update answers set status = 'done', http_status = $5, body = $6, finished_at = now() where ${mine}`,
      [...values(key), status, JSON.stringify(body)],
    )
  }

  async abandon(key: AnswerKey): Promise<void> {
    await this.#pool.query(`delete from answers where ${mine} and status = 'running'`, values(key))
  }

  async lookup(merchant: string, livemode: boolean, key: string): Promise<readonly KnownAnswer[]> {
    const { rows } = await this.#pool.query<KnownAnswer>(
      `select operation, status, http_status as "httpStatus", body, started_at as "startedAt" from answers
       where merchant = $1 and livemode = $2 and key = $3 order by started_at`,
      [merchant, livemode, key],
    )
    return rows
  }
}

function values({ merchant, livemode, operation, key }: AnswerKey): (string | boolean)[] {
  return [merchant, livemode, operation, key]
}
