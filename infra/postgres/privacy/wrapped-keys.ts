import type pg from 'pg'

/** A subject's key as stored: sealed under a master key. */
export interface WrappedKey {
  readonly subject: string
  readonly generation: number
  readonly wrapped: string
}

/** All that are not destroyed, for rotation of the master key. */
export async function wrappedKeysIn(pool: pg.Pool): Promise<readonly WrappedKey[]> {
  const { rows } = await pool.query<WrappedKey>(
    'select subject, generation, wrapped from subject_keys where wrapped is not null',
  )
  return rows
}

/** Stores it under another master key, unless it was destroyed meanwhile. */
export async function rewrapKey(pool: pg.Pool, key: WrappedKey, wrapped: string): Promise<void> {
  await pool.query(
    `update subject_keys set wrapped = $4
     where subject = $1 and generation = $2 and wrapped = $3`,
    [key.subject, key.generation, key.wrapped, wrapped],
  )
}
