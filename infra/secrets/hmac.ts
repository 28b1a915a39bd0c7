import { hash, type BinaryToTextEncoding } from 'node:crypto'

const blockBytes = 64
const digestBytes = 32
const [innerPad, outerPad] = [0x36, 0x5c]
/** Of UTF-8, for each unit of UTF-16. */
const bytesPerUnitMax = 3

/** What is hashed, in memory that is used again. */
let inner = Buffer.alloc(blockBytes + 1_024)
const outer = Buffer.alloc(blockBytes + digestBytes)

/**
 * HMAC-SHA256 (RFC 2104). The library's own makes an object for each call that the garbage collector must
 * look after, which costs a payment more than the hashing; a test compares them.
 */
export function hmacSha256(
  key: Uint8Array,
  message: string | Uint8Array,
  encoding: BinaryToTextEncoding,
): string {
  if (key.length > blockBytes) return hmacSha256(Buffer.from(hash('sha256', key), 'hex'), message, encoding)
  const most = blockBytes + bytesPerUnitMax * message.length
  if (most > inner.length) inner = Buffer.alloc(most)
  const end = blockBytes + put(message)
  inner.fill(innerPad, 0, blockBytes)
  outer.fill(outerPad, 0, blockBytes)
  for (let at = 0; at < key.length; at++) {
    inner[at]! ^= key[at]!
    outer[at]! ^= key[at]!
  }
  outer.write(hash('sha256', inner.subarray(0, end), 'binary'), blockBytes, 'binary')
  return hash('sha256', outer, encoding)
}

function put(message: string | Uint8Array): number {
  if (typeof message === 'string') return inner.write(message, blockBytes)
  inner.set(message, blockBytes)
  return message.length
}
