import { randomBytes } from 'node:crypto'
import { uuidOf } from '../../packages/contract/identity.ts'
import { hmacSha256 } from './hmac.ts'

const keyBytes = 32

/** A new key, in base64. */
export function newIndexKey(): string {
  return randomBytes(keyBytes).toString('base64')
}

/** HMAC-SHA256 under the key, as a UUID (version 8): always the same for a name, without revealing it. */
export function blindId(key: Buffer, name: string): string {
  return uuidOf(hmacSha256(key, name, 'hex'), 8)
}
