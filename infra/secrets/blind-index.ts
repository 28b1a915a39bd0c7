import { createHmac, randomBytes, type KeyObject } from 'node:crypto'

const keyBytes = 32

/** A new key, in base64. */
export function newIndexKey(): string {
  return randomBytes(keyBytes).toString('base64')
}

/** HMAC-SHA256 under the key, as a UUID (version 8): always the same for a name, without revealing it. */
export function blindId(key: KeyObject, name: string): string {
  const bytes = createHmac('sha256', key).update(name).digest()
  bytes[6] = (bytes[6]! & 0x0f) | 0x80
  bytes[8] = (bytes[8]! & 0x3f) | 0x80
  const hex = bytes.toString('hex', 0, 16)
  const [a, b, c, d] = [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20)]
  return `${a}-${b}-${c}-${d}-${hex.slice(20)}`
}
