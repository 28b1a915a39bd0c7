import type { IncomingMessage } from 'node:http'
import { refuse } from '../../../packages/contract/refusals.ts'

/** Style, Limits are visible: bodies of at most 256 KB. */
export const bodyBytesMax = 256 * 1024
const depthMax = 20

/**
 * Reads a JSON body; `undefined` when there is none. Refuses what is too large, too slow, too deep, ambiguous
 * or not JSON.
 */
export async function readBody(request: IncomingMessage, arrivalMs: number): Promise<unknown> {
  const declared = Number(request.headers['content-length'] ?? 0)
  if (declared > bodyBytesMax)
    refuse('body_must_not_be_too_large', { detail: `Body is larger than ${bodyBytesMax} bytes` })
  const bytes = await readBytes(request, arrivalMs)
  if (bytes.length === 0) return undefined
  const type = request.headers['content-type']
  if (type !== undefined && !/^application\/(?:[\w.+-]+\+)?json\b/i.test(type)) {
    refuse('body_must_be_json', { detail: `Content-Type is ${type}, but must be application/json` })
  }
  return parseJson(bytes)
}

function readBytes(request: IncomingMessage, arrivalMs: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let length = 0
    const timer = setTimeout(() => end(() => refuse('body_must_arrive_in_time')), arrivalMs)
    const end = (answer: () => Buffer) => {
      clearTimeout(timer)
      request.off('data', take)
      try {
        resolve(answer())
      } catch (error) {
        request.resume()
        reject(error)
      }
    }
    const take = (chunk: Buffer) => {
      chunks.push(chunk)
      length += chunk.length
      if (length > bodyBytesMax) {
        end(() =>
          refuse('body_must_not_be_too_large', { detail: `Body is larger than ${bodyBytesMax} bytes` }),
        )
      }
    }
    request.on('data', take)
    request.once('end', () => end(() => (chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks))))
    request.once('error', () =>
      end(() => refuse('body_must_arrive_in_time', { detail: 'Request was cut off' })),
    )
  })
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

function parseJson(bytes: Buffer): unknown {
  let text: string
  let value: unknown
  try {
    text = utf8.decode(bytes)
  } catch {
    refuse('body_must_be_json', { detail: 'Body is not UTF-8' })
  }
  try {
    value = JSON.parse(text)
  } catch (error) {
    refuse('body_must_be_json', { detail: `Body is not JSON: ${(error as Error).message.slice(0, 200)}` })
  }
  checkStructure(text)
  return value
}

interface Level {
  /** The member names of an object; `undefined` for an array. */
  readonly names: Set<string> | undefined
}

const stringToken = /"(?:[^"\\]|\\.)*"/y

/**
 * JSON.parse keeps the last of two equal names and follows any depth; a payment must not hang on which of two
 * amounts a parser prefers. The text is known to be JSON here, so strings and brackets are all there is to
 * see.
 */
function checkStructure(text: string): void {
  const levels: Level[] = []
  let isName = false
  for (let at = 0; at < text.length; at++) {
    const character = text[at]
    if (character === '"') {
      stringToken.lastIndex = at
      const token = stringToken.exec(text)![0]
      at += token.length - 1
      checkText(token)
      if (isName) addName(levels.at(-1)!, textOf(token))
      isName = false
    } else if (character === '{' || character === '[') {
      levels.push({ names: character === '{' ? new Set() : undefined })
      if (levels.length > depthMax)
        refuse('body_must_be_json', { detail: `Body is nested more than ${depthMax} levels deep` })
      isName = character === '{'
    } else if (character === '}' || character === ']') {
      levels.pop()
      isName = false
    } else if (character === ',') {
      isName = levels.at(-1)?.names !== undefined
    }
  }
}

/** What no database stores: it is refused here, so that it fails nowhere else. */
function checkText(token: string): void {
  if (!token.includes('\\')) return
  if (token.includes('\\u0000'))
    refuse('request_must_be_valid', { detail: 'Text must not contain the character U+0000' })
  if (/\\u[dD][89a-fA-F]/.test(token) && !(JSON.parse(token) as string).isWellFormed()) {
    refuse('request_must_be_valid', { detail: 'Text must not contain half of a surrogate pair' })
  }
}

function textOf(token: string): string {
  return token.includes('\\') ? (JSON.parse(token) as string) : token.slice(1, -1)
}

function addName({ names }: Level, name: string): void {
  if (name === '__proto__') refuse('body_must_be_json', { detail: 'Body has a member named __proto__' })
  if (names?.has(name)) refuse('body_must_be_json', { detail: `Body has the member "${name}" twice` })
  names?.add(name)
}
