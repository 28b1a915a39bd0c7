import type pg from 'pg'

/** An answer that shows a secret, stored sealed for repeats of its idempotency key. */
export interface SealedAnswer {
  readonly merchant: string
  readonly livemode: boolean
  readonly operation: string
  readonly key: string
  readonly sealed: string
}

export async function sealedAnswersIn(pool: pg.Pool): Promise<readonly SealedAnswer[]> {
  const { rows } = await pool.query<SealedAnswer>(
    `select merchant, livemode, operation, key, body->>'sealed' as sealed from answers where body->>'sealed' is not null`,
  )
  return rows
}

/** Unless it has changed meanwhile. */
export async function resealAnswer(pool: pg.Pool, answer: SealedAnswer, sealed: string): Promise<void> {
  const { merchant, livemode, operation, key } = answer
  await pool.query(
    `update answers set body = jsonb_set(body::jsonb, '{sealed}', to_jsonb($6::text))
     where merchant = $1 and livemode = $2 and operation = $3 and key = $4 and body->>'sealed' = $5`,
    [merchant, livemode, operation, key, answer.sealed, sealed],
  )
}
