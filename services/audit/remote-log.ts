import { setTimeout as pause } from 'node:timers/promises'
import { hashBytes, sha256 } from '../../infra/transparency/hashing.ts'
import { signedCheckpoint } from '../../infra/transparency/checkpoint.ts'
import { noteVerifier, parseNote, signatureLine } from '../../infra/transparency/signed-note.ts'
import { entriesOf, tilePath, tilesOnLevel, tileWidth, widthOf } from '../../infra/transparency/tiles.ts'
import type {
  PublishedBundle,
  PublishedCosignature,
  PublishedLog,
  PublishedTile,
} from '../../infra/transparency/published-log.ts'

const timeoutMs = 30_000
/** Its length in two bytes, and a commitment. */
const entryBytes = 2 + hashBytes
const tileBytesMax = tileWidth * entryBytes
/** Tiles are small, so it is the way there and back that takes long. */
const atOnce = 8
/** Services limit how fast an address may read; others may read from the same one. */
const triesMax = 30
const retrySecondsMax = 60
const tooManyRequests = 429

/** The log said something that cannot be, or nothing. */
export class RemoteLogError extends Error {
  override readonly name = 'RemoteLogError'
}

/**
 * What a running service shows of its log to everybody, read over HTTP. It shows no events. Nothing is read
 * on the word of a checkpoint that no trusted key has signed; the keys are those that it shows, unless the
 * reader has others.
 */
export async function remoteLog(url: string, trusted?: readonly string[]): Promise<PublishedLog> {
  const base = `${url.replace(/\/+$/, '')}/log`
  const note = (await bytesAt(`${base}/checkpoint`)).toString()
  const keys = (await bytesAt(`${base}/key`)).toString().trimEnd().split('\n')
  const { size } = signedCheckpoint(note, (trusted ?? keys).map(noteVerifier))
  return {
    verifierKeys: keys,
    tiles: await tilesOf(base, size),
    size,
    checkpoints: async function* () {
      yield { size, note }
    },
    cosignatures: () => cosignaturesIn(note, size),
    bundles: () => bundlesOf(base, size),
  }
}

/** Those below the log's own signatures. */
async function* cosignaturesIn(note: string, size: number): AsyncGenerator<PublishedCosignature> {
  const { text, signatures } = parseNote(note)
  for (const signature of signatures)
    if (!text.startsWith(`${signature.name}\n`))
      yield { size, witness: signature.name, line: signatureLine(signature) }
}

async function tilesOf(base: string, size: number): Promise<ReadonlyMap<string, PublishedTile>> {
  const tiles = new Map<string, PublishedTile>()
  for (let level = 0; tilesOnLevel(level, size) > 0; level++) {
    const read = (index: number) =>
      bytesAt(`${base}/${tilePath({ level, index, width: widthOf({ level, index }, size) })}`)
    for await (const { index, bytes } of inOrder(tilesOnLevel(level, size), read))
      tiles.set(`${level}/${index}`, { hashes: bytes.length / hashBytes, digest: sha256(bytes) })
  }
  return tiles
}

async function* bundlesOf(base: string, size: number): AsyncGenerator<PublishedBundle> {
  const read = async (index: number) => {
    const width = widthOf({ level: 0, index }, size)
    const url = `${base}/${tilePath({ level: 'entries', index, width })}`
    return commitmentsIn(await bytesAt(url), { url, width })
  }
  for await (const { index, bytes } of inOrder(tilesOnLevel(0, size), read))
    yield { index, commitments: bytes }
}

function commitmentsIn(bundle: Buffer, { url, width }: { url: string; width: number }): Buffer {
  try {
    const entries = entriesOf(bundle)
    if (entries.length === width && entries.every(({ length }) => length === hashBytes))
      return Buffer.concat(entries)
  } catch {
    // It is said below.
  }
  throw new RemoteLogError(`${url} does not hold ${width} commitments`)
}

async function* inOrder(count: number, read: (index: number) => Promise<Buffer>) {
  for (let at = 0; at < count; at += atOnce) {
    const part = Array.from({ length: Math.min(atOnce, count - at) }, (_, place) => at + place)
    const found = await Promise.all(part.map(read))
    for (const [place, index] of part.entries()) yield { index, bytes: found[place]! }
  }
}

async function bytesAt(url: string): Promise<Buffer> {
  let answer = await answerAt(url)
  for (let tries = 1; answer.status === tooManyRequests && tries < triesMax; tries++) {
    const seconds = Number(answer.headers.get('retry-after') ?? 1) || 1
    await pause(Math.min(seconds, retrySecondsMax) * 1_000)
    answer = await answerAt(url)
  }
  if (!answer.ok) throw new RemoteLogError(`${url} is answered with ${answer.status}`)
  return answer.body
}

interface Answer extends Pick<Response, 'status' | 'ok' | 'headers'> {
  readonly body: Buffer
}

/** Nobody has said where it may redirect to, and it may answer without end. */
async function answerAt(url: string): Promise<Answer> {
  try {
    const signal = AbortSignal.timeout(timeoutMs)
    const { status, ok, headers, body } = await fetch(url, { signal, redirect: 'error' })
    return { status, ok, headers, body: await limited(body, url) }
  } catch (error) {
    if (error instanceof RemoteLogError) throw error
    throw new RemoteLogError(`${url} cannot be read: ${reasonOf(error)}`)
  }
}

async function limited(body: Response['body'], url: string): Promise<Buffer> {
  const parts: Uint8Array[] = []
  let length = 0
  for await (const part of body ?? []) {
    parts.push(part)
    length += part.length
    if (length > tileBytesMax) throw new RemoteLogError(`${url} has more than ${tileBytesMax} bytes`)
  }
  return Buffer.concat(parts)
}

function reasonOf(error: unknown): string {
  const { cause, message } = error as Error
  return cause instanceof Error && cause.message !== '' ? cause.message : message
}
