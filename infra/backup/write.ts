import { createHash, type Hash } from 'node:crypto'
import { createWriteStream, existsSync, mkdirSync, readdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import type pg from 'pg'
import type { EventStore } from '../../packages/kernel/ports.ts'
import { RunningDigest, type Digest } from '../history/digest.ts'
import { historyOf } from '../history/store-pages.ts'
import { readBookkeeping } from '../postgres/history/bookkeeping.ts'
import { keptHistory } from '../postgres/history/history.ts'
import { inReadTransaction } from '../postgres/client/read-transaction.ts'

/** Marks the backup as complete: written last. */
export interface Manifest extends Digest {
  readonly format: 1
  /** Id of the history. */
  readonly history: string
  /** RFC 3339. */
  readonly at: string
  /** Of its lines, in hex. Left out by earlier versions. */
  readonly bookkeeping?: { readonly sha256: string }
}

export const files = {
  manifest: 'manifest.json',
  events: 'events.ndjson.gz',
  bookkeeping: 'bookkeeping.ndjson.gz',
} as const

/** Backups contain amounts, names and phone numbers. */
const mode = 0o600
/** A fast compression level: the disk is slower. */
const gzipLevel = 1

export interface Backup {
  readonly directory: string
  readonly pool: pg.Pool
  readonly store: EventStore
  readonly now: Date
  readonly onProgress: (position: number, of: number) => void
}

/** Checks that a backup may be written there: it gets a directory of its own. */
export function isFree(directory: string): boolean {
  return !existsSync(directory) || readdirSync(directory).length === 0
}

/**
 * Writes the bookkeeping as of one moment and then the log, which is therefore never behind it. A service may
 * keep running meanwhile.
 */
export async function writeBackup(backup: Backup): Promise<Manifest> {
  const { directory, pool, store, now } = backup
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const kept = createHash('sha256')
  await inReadTransaction(pool, async (moment) => {
    await compress(rowsOf(readBookkeeping(moment), kept), join(directory, files.bookkeeping))
  })
  const through = await store.head()
  const digest = new RunningDigest()
  await compress(linesOf(backup, { through, digest }), join(directory, files.events))
  const { id } = await keptHistory(pool)
  const bookkeeping = { sha256: kept.digest('hex') }
  const manifest: Manifest = {
    format: 1,
    history: id,
    at: now.toISOString(),
    ...digest.result(),
    bookkeeping,
  }
  const draft = join(directory, `${files.manifest}.new`)
  writeFileSync(draft, `${JSON.stringify(manifest, undefined, 2)}\n`, { mode, flush: true })
  renameSync(draft, join(directory, files.manifest))
  return manifest
}

function compress(lines: AsyncIterable<string>, file: string): Promise<void> {
  // What another backup is writing here at the same time is neither mixed with this one nor replaced.
  const written = createWriteStream(file, { flags: 'wx', mode, flush: true })
  return pipeline(Readable.from(lines), createGzip({ level: gzipLevel }), written)
}

/** `<table> <row>`. */
async function* rowsOf(kept: ReturnType<typeof readBookkeeping>, digest: Hash): AsyncGenerator<string, void> {
  for await (const { table, rows } of kept) {
    const lines = rows.map((row) => `${table} ${row}\n`).join('')
    digest.update(lines)
    yield lines
  }
}

interface Through {
  readonly through: number
  readonly digest: RunningDigest
}

async function* linesOf(
  { store, onProgress }: Backup,
  { through, digest }: Through,
): AsyncGenerator<string, void> {
  for await (const events of historyOf(store).pages(0, through)) {
    for (const event of events) digest.add(event)
    yield events.map((event) => `${JSON.stringify(event)}\n`).join('')
    onProgress(events.at(-1)!.position, through)
  }
}
