import { createHmac, randomBytes } from 'node:crypto'

const keyBytes = 32

/** A new key, in base64. */
export function newIndexKey(): string {
  return randomBytes(keyBytes).toString('base64')
}

/** HMAC-SHA256 under the key, as a UUID (version 8): always the same for a name, without revealing it. */
export function blindId(key: string, name: string): string {
  const bytes = createHmac('sha256', Buffer.from(key, 'base64')).update(name).digest()
  bytes[6] = (bytes[6]! & 0x0f) | 0x80
  bytes[8] = (bytes[8]! & 0x3f) | 0x80
  const hex = bytes.toString('hex')
  return [
    [0, 8],
    [8, 12],
    [12, 16],
    [16, 20],
    [20, 32],
  ]
    .map(([from, to]) => hex.slice(from, to))
    .join('-')
}
