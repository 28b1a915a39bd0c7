import { randomBytes } from 'node:crypto'
import type pg from 'pg'
import type { Vault } from '../../../packages/kernel/ports.ts'
import { noteSigner, type NoteSigner } from '../../transparency/signed-note.ts'
import { fenced, type Fence } from '../consumers/fence.ts'

interface KeptKey {
  readonly origin: string
  readonly sealedSeed: string
}

const seedBytes = 32

/** What a sealed seed is bound to. */
export function seedContext(origin: string): string {
  return `log-key ${origin}`
}

export interface LogKeysOptions {
  readonly pool: pg.Pool
  readonly vault: Vault
  readonly fence?: Fence
  /** The service's public address: the log takes its name from it when it is created, and keeps it. */
  readonly baseUrl: string
}

/** The current signing key; the first one is created here. */
export async function currentSigner(options: LogKeysOptions): Promise<NoteSigner> {
  const { origin, sealedSeed } = (await newestKey(options.pool)) ?? (await firstKey(options))
  return noteSigner(origin, Buffer.from(options.vault.open(sealedSeed, seedContext(origin)), 'base64'))
}

async function newestKey(pool: pg.Pool): Promise<KeptKey | undefined> {
  const { rows } = await pool.query<KeptKey>(
    'select origin, sealed_seed as "sealedSeed" from log_keys order by id desc limit 1',
  )
  return rows[0]
}

/** Two histories never share a name, even when both are created at the same address. */
function firstKey({ pool, vault, fence, baseUrl }: LogKeysOptions): Promise<KeptKey> {
  return fenced(pool, fence, async (connection) => {
    const { rows } = await connection.query<{ id: string }>('select id from history')
    const origin = `${new URL(baseUrl).host}/log/${rows[0]!.id.slice(0, 8)}`
    const seed = randomBytes(seedBytes)
    const sealedSeed = vault.seal(seed.toString('base64'), seedContext(origin))
    await connection.query('insert into log_keys (origin, sealed_seed, verifier_key) values ($1, $2, $3)', [
      origin,
      sealedSeed,
      noteSigner(origin, seed).verifierKey,
    ])
    return { origin, sealedSeed }
  })
}

export interface SealedLogKey extends KeptKey {
  readonly id: number
}

/** All keys of the log, sealed. */
export async function sealedLogKeys(pool: pg.Pool): Promise<readonly SealedLogKey[]> {
  const { rows } = await pool.query<SealedLogKey>(
    'select id, origin, sealed_seed as "sealedSeed" from log_keys order by id',
  )
  return rows
}

/** The same key, sealed anew; nothing happens when another process was faster. */
export async function resealLogKey(
  pool: pg.Pool,
  { id, sealedSeed }: SealedLogKey,
  sealed: string,
): Promise<void> {
  await pool.query('update log_keys set sealed_seed = $3 where id = $1 and sealed_seed = $2', [
    id,
    sealedSeed,
    sealed,
  ])
}

/** The verifier keys of the log, oldest first. */
export async function verifierKeys(pool: pg.Pool): Promise<readonly string[]> {
  const { rows } = await pool.query<{ key: string }>('select verifier_key as key from log_keys order by id')
  return rows.map(({ key }) => key)
}
