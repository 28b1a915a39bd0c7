import { randomBytes } from 'node:crypto'
import type pg from 'pg'
import type { Vault } from '../../../packages/kernel/ports.ts'
import { noteSigner, type NoteSigner } from '../../transparency/signed-note.ts'
import { announcementOf } from '../../transparency/announcement.ts'
import { inTransaction } from '../client/transaction.ts'
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

/** Opens the keys that sign the log; the first one is created here. */
export async function logSigners(options: LogKeysOptions): Promise<LogSigners> {
  if ((await keptKeys(options.pool)).length === 0) await firstKey(options)
  const opened = new Map<number, NoteSigner>()
  return async (before, through) => {
    const keys = await keptKeys(options.pool, 'for key share')
    // A key signs from the event that announces it; the checkpoint over that event has both signatures.
    const inUse = keys.filter(({ announced }, index) => {
      const next = keys[index + 1]
      return announced <= through && (next === undefined || next.announced > before)
    })
    return inUse.map((key) => {
      const signer = opened.get(key.id) ?? signerOf(options.vault, key)
      opened.set(key.id, signer)
      return signer
    })
  }
}

/** The newest key; the first one is created here. */
export async function currentSigner(options: LogKeysOptions): Promise<NoteSigner> {
  if ((await keptKeys(options.pool)).length === 0) await firstKey(options)
  return signerOf(options.vault, (await keptKeys(options.pool)).at(-1)!)
}

/** Who signs a checkpoint over the events up to a log position, when the last one was over those before. */
export type LogSigners = (before: number, through: number) => Promise<readonly NoteSigner[]>

/**
 * Creates the next key. `announce` writes into the log, by a note of the current key, which key that is, and
 * returns the position: from there on it signs. Returns its verifier key.
 */
export function rotateLogKey(
  { pool, vault }: Pick<LogKeysOptions, 'pool' | 'vault'>,
  announce: (note: string) => Promise<number>,
): Promise<string> {
  return inTransaction(pool, async (connection) => {
    await connection.query('lock table log_keys in exclusive mode')
    const current = (await keptKeys(connection)).at(-1)
    if (!current) throw new Error('the log has no key yet: start the service once')
    const seed = randomBytes(seedBytes)
    const next = noteSigner(current.origin, seed)
    const position = await announce(announcementOf(next, signerOf(vault, current)))
    await connection.query(
      'insert into log_keys (origin, sealed_seed, verifier_key, announced_position) values ($1, $2, $3, $4)',
      [current.origin, sealedSeedOf(vault, current.origin, seed), next.verifierKey, position],
    )
    return next.verifierKey
  })
}

/**
 * Verifier keys of the log that nobody could have put there without the master key, oldest first.
 */
export async function vouchedKeys({
  pool,
  vault,
}: Pick<LogKeysOptions, 'pool' | 'vault'>): Promise<readonly string[]> {
  const keys = await keptKeys(pool)
  return keys.flatMap((key) => {
    try {
      return [signerOf(vault, key).verifierKey]
    } catch {
      // What it has signed is found to be signed by nobody.
      return []
    }
  })
}

interface SigningKey extends KeptKey {
  readonly id: number
  /** Position of the event that announces it; 0 for the first one. */
  readonly announced: number
}

/** With the lock it waits for a key whose announcement is in the log already while its row is not. */
async function keptKeys(
  database: Pick<pg.Pool, 'query'>,
  lock: 'for key share' | '' = '',
): Promise<readonly SigningKey[]> {
  const { rows } = await database.query<SigningKey>(
    `select id, origin, sealed_seed as "sealedSeed", coalesce(announced_position, 0) as announced
     from log_keys order by id ${lock}`,
  )
  return rows
}

function signerOf(vault: Vault, { origin, sealedSeed }: KeptKey): NoteSigner {
  return noteSigner(origin, Buffer.from(vault.open(sealedSeed, seedContext(origin)), 'base64'))
}

function sealedSeedOf(vault: Vault, origin: string, seed: Buffer): string {
  return vault.seal(seed.toString('base64'), seedContext(origin))
}

/** Two histories never share a name, even when both are created at the same address. */
function firstKey({ pool, vault, fence, baseUrl }: LogKeysOptions): Promise<void> {
  return fenced(pool, fence, async (connection) => {
    const { rows } = await connection.query<{ id: string }>('select id from history')
    const origin = `${new URL(baseUrl).host}/log/${rows[0]!.id.slice(0, 8)}`
    const seed = randomBytes(seedBytes)
    const sealedSeed = sealedSeedOf(vault, origin, seed)
    await connection.query('insert into log_keys (origin, sealed_seed, verifier_key) values ($1, $2, $3)', [
      origin,
      sealedSeed,
      noteSigner(origin, seed).verifierKey,
    ])
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
