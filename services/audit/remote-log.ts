import { setTimeout as pause } from 'node:timers/promises'
import { hashBytes, sha256 } from '../../infra/transparency/hashing.ts'
import { parseCheckpoint } from '../../infra/transparency/checkpoint.ts'
import { parseNote } from '../../infra/transparency/signed-note.ts'
import { entriesOf, tilePath, tilesOnLevel, tileWidth, widthOf } from '../../infra/transparency/tiles.ts'
import type { PublishedBundle, PublishedLog, PublishedTile } from '../../infra/transparency/published-log.ts'

const timeoutMs = 30_000
const tileBytesMax = tileWidth * (hashBytes + 2)
/** Tiles are small, so it is the way there and back that takes long. */
const atOnce = 8
/** Services limit how fast an address may read; others may read from the same one. */
const triesMax = 30

/** The log said something that cannot be, or nothing. */
export class RemoteLogError extends Error {
  override readonly name = 'RemoteLogError'
}

/** What a running service shows of its log to everybody, read over HTTP. It shows no events. */
export async function remoteLog(url: string): Promise<PublishedLog> {
  const base = `${url.replace(/\/+$/, '')}/log`
  const note = (await bytesAt(`${base}/checkpoint`)).toString()
  const { size } = parseCheckpoint(parseNote(note).text)
  const keys = (await bytesAt(`${base}/key`)).toString().trimEnd().split('\n')
  return {
    verifierKeys: keys,
    tiles: await tilesOf(base, size),
    size,
    checkpoints: async function* () {
      yield { size, note }
    },
    bundles: () => bundlesOf(base, size),
  }
}

async function tilesOf(base: string, size: number): Promise<ReadonlyMap<string, PublishedTile>> {
  const tiles = new Map<string, PublishedTile>()
  for (let level = 0; tilesOnLevel(level, size) > 0; level++) {
    const indexes = Array.from({ length: tilesOnLevel(level, size) }, (_, index) => index)
    for await (const { index, bytes } of inOrder(indexes, (index) => {
      return bytesAt(`${base}/${tilePath({ level, index, width: widthOf({ level, index }, size) })}`)
    }))
      tiles.set(`${level}/${index}`, { hashes: bytes.length / hashBytes, digest: sha256(bytes) })
  }
  return tiles
}

async function* bundlesOf(base: string, size: number): AsyncGenerator<PublishedBundle> {
  const indexes = Array.from({ length: tilesOnLevel(0, size) }, (_, index) => index)
  const read = (index: number) => {
    const width = widthOf({ level: 0, index }, size)
    return bytesAt(`${base}/${tilePath({ level: 'entries', index, width })}`)
  }
  for await (const { index, bytes } of inOrder(indexes, read))
    yield { index, commitments: Buffer.concat(entriesOf(bytes)) }
}

async function* inOrder(indexes: readonly number[], read: (index: number) => Promise<Buffer>) {
  for (let at = 0; at < indexes.length; at += atOnce) {
    const part = indexes.slice(at, at + atOnce)
    const found = await Promise.all(part.map(read))
    for (const [place, index] of part.entries()) yield { index, bytes: found[place]! }
  }
}

async function bytesAt(url: string): Promise<Buffer> {
  let response = await answerAt(url)
  for (let tries = 1; response.status === 429 && tries < triesMax; tries++) {
    await response.body?.cancel()
    await pause(Number(response.headers.get('retry-after') ?? 1) * 1_000)
    response = await answerAt(url)
  }
  if (!response.ok) throw new RemoteLogError(`${url} is answered with ${response.status}`)
  const bytes = Buffer.from(await response.arrayBuffer())
  if (bytes.length > tileBytesMax)
    throw new RemoteLogError(`${url} has ${bytes.length} bytes, which is too many`)
  return bytes
}

function answerAt(url: string): Promise<Response> {
  return fetch(url, { signal: AbortSignal.timeout(timeoutMs) }).catch((error: unknown) => {
    throw new RemoteLogError(`${url} cannot be read: ${reasonOf(error)}`)
  })
}

function reasonOf(error: unknown): string {
  const { cause, message } = error as Error
  return cause instanceof Error && cause.message !== '' ? cause.message : message
}
