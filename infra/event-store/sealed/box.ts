import { createCipheriv, createDecipheriv, hash } from 'node:crypto'
import { hmacSha256 } from '../../secrets/hmac.ts'

const algorithm = 'aes-256-gcm'
const nonceBytes = 12
const tagBytes = 16
const receipt = Buffer.from('receipt')
const options = { authTagLength: tagBytes }

/** What a box is bound to: it does not open in another event. */
export interface SealContext {
  /** The event's salt, which also provides the nonce: 16 random bytes in base64url. */
  readonly salt: string
  readonly id: string
}

/**
 * Deterministic: the same content in the same place gives the same box, so that an append can be repeated.
 */
export function seal(key: Buffer, content: string, { salt, id }: SealContext): string {
  const cipher = createCipheriv(algorithm, key, nonceOf(salt)).setAAD(Buffer.from(id))
  const sealed = cipher.update(content, 'utf8')
  // A stream cipher: nothing is left for the end.
  cipher.final()
  return Buffer.concat([sealed, cipher.getAuthTag()]).toString('base64url')
}

/** Throws for a box that was changed or moved. */
export function open(key: Buffer, box: string, { salt, id }: SealContext): string {
  const bytes = Buffer.from(box, 'base64url')
  const end = bytes.length - tagBytes
  const decipher = createDecipheriv(algorithm, key, nonceOf(salt), options).setAAD(Buffer.from(id))
  decipher.setAuthTag(bytes.subarray(end))
  // As bytes: text in several parts would need a decoder for each box.
  const content = decipher.update(bytes.subarray(0, end))
  decipher.final()
  return content.toString('utf8')
}

function nonceOf(salt: string): Buffer {
  return Buffer.from(salt, 'base64url').subarray(0, nonceBytes)
}

/** A secret of one event: it opens nothing, and cannot be guessed without the key. */
export function blindOf(key: Buffer, salt: string): string {
  return hmacSha256(key, Buffer.concat([receipt, Buffer.from(salt, 'base64url')]), 'base64url')
}

/** Commits to the content: anyone who is shown the content can compute it from that and the blind. */
export function digestOf(content: string, blind: string): string {
  const bytes = Buffer.concat([Buffer.from(blind, 'base64url'), Buffer.from(content)])
  return hash('sha256', bytes, 'base64url')
}
