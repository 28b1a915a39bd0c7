import type { IncomingMessage } from 'node:http'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { refuse } from '../../../../packages/contract/refusals.ts'
import { parseJson } from './json-text.ts'

/** Style, Limits are visible: bodies of at most 256 KB. */
export const bodyBytesMax = 256 * 1024

interface BodyOptions {
  readonly arrivalMs: number
  /** The form of one of our pages may have sent it. */
  readonly takesForms?: boolean
}

/**
 * Reads a JSON body; `undefined` when there is none. Refuses one that is too large, too slow, too deep,
 * ambiguous or not JSON.
 */
export async function readBody(
  request: IncomingMessage,
  { arrivalMs, takesForms = false }: BodyOptions,
): Promise<unknown> {
  const declared = Number(request.headers['content-length'] ?? 0)
  if (declared > bodyBytesMax)
    refuse('body_must_not_be_too_large', { detail: `Body is larger than ${bodyBytesMax} bytes` })
  const bytes = await unpacked(await readBytes(request, arrivalMs), request.headers['content-encoding'])
  if (bytes.length === 0) return undefined
  const type = request.headers['content-type']
  if (takesForms && type?.toLowerCase().startsWith('application/x-www-form-urlencoded'))
    return fieldsOf(bytes)
  if (type !== undefined && !/^application\/(?:[\w.+-]+\+)?json\b/i.test(type)) {
    refuse('content_type_must_be_json', { detail: `Content-Type is ${type}, but must be application/json` })
  }
  return parseJson(bytes)
}

/** Fields that were left empty were not filled in. */
function fieldsOf(bytes: Buffer): Readonly<Record<string, string>> {
  const fields = [...new URLSearchParams(bytes.toString('utf8'))].filter(([, value]) => value !== '')
  const names = fields.map(([name]) => name)
  if (new Set(names).size < names.length)
    refuse('body_must_be_json', { detail: 'The form names a field twice' })
  return Object.fromEntries(fields)
}

const unzip = promisify(gunzip)

async function unpacked(bytes: Buffer, encoding = 'identity'): Promise<Buffer> {
  if (encoding.toLowerCase() === 'identity' || bytes.length === 0) return bytes
  if (encoding.toLowerCase() !== 'gzip')
    refuse('content_encoding_must_be_known', { detail: `Content-Encoding is ${encoding}, but must be gzip` })
  try {
    return await unzip(bytes, { maxOutputLength: bodyBytesMax })
  } catch (error) {
    const isTooLarge = (error as { code?: string }).code === 'ERR_BUFFER_TOO_LARGE'
    if (isTooLarge)
      refuse('body_must_not_be_too_large', { detail: `Body is larger than ${bodyBytesMax} bytes` })
    return refuse('body_must_be_json', { detail: 'Body is not gzip, as its Content-Encoding says' })
  }
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
    const cutOff = () => end(() => refuse('body_must_arrive_in_time', { detail: 'Request was cut off' }))
    // While it was found out who asks, nobody heard of it.
    if (request.destroyed) return cutOff()
    request.on('data', take)
    request.once('end', () => end(() => (chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks))))
    request.once('error', cutOff)
  })
}
