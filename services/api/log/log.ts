import type { Express, Request, Response } from 'express'
import type pg from 'pg'
import { verifierKeys } from '../../../infra/postgres/transparency/log-keys.ts'
import {
  cosignatures,
  readLeaves,
  readTile,
  shownCheckpoint,
} from '../../../infra/postgres/transparency/tree-store.ts'
import { entryBundle, parseTilePath } from '../../../infra/transparency/tiles.ts'

const textType = 'text/plain; charset=utf-8'
/** What is complete never changes, and neither does a prefix of the rest. */
const forEver = 'public, max-age=31536000, immutable'

interface Found {
  readonly type: string
  readonly cache: string
  readonly body: string | Buffer
}

/** The public Merkle tree of the log, at C2SP's paths: it only reveals how many events there are. */
export function mountLog(app: Express, pool: pg.Pool): void {
  app.get(
    '/log/checkpoint',
    answering(() => checkpoint(pool)),
  )
  app.get(
    '/log/key',
    answering(() => keys(pool)),
  )
  app.get(
    /^\/log\/(tile\/.+)$/,
    answering((path) => tile(pool, path)),
  )
}

function answering(find: (path: string) => Promise<Found | undefined>) {
  return async (request: Request, response: Response): Promise<void> => {
    const found = await find(String(request.params[0] ?? ''))
    if (!found) {
      response.status(404).type(textType).send('The log has nothing at this path.\n')
      return
    }
    response.set({ 'Content-Type': found.type, 'Cache-Control': found.cache })
    response.set('Access-Control-Allow-Origin', '*')
    response.end(found.body)
  }
}

async function checkpoint(pool: pg.Pool): Promise<Found | undefined> {
  const shown = await shownCheckpoint(pool)
  if (!shown) return undefined
  const body = shown.note + (await cosignatures(pool, shown.size)).join('')
  return { type: textType, cache: 'public, max-age=1', body }
}

async function keys(pool: pg.Pool): Promise<Found | undefined> {
  const lines = await verifierKeys(pool)
  if (lines.length === 0) return undefined
  return { type: textType, cache: 'public, max-age=60', body: `${lines.join('\n')}\n` }
}

async function tile(pool: pg.Pool, path: string): Promise<Found | undefined> {
  const name = parseTilePath(path)
  if (!name) return undefined
  const leaves = name.level === 'entries' ? await readLeaves(pool, name) : undefined
  const body = leaves
    ? entryBundle(leaves)
    : name.level === 'entries'
      ? undefined
      : await readTile(pool, name)
  return body && { type: 'application/octet-stream', cache: forEver, body }
}
