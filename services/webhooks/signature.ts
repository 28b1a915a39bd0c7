import { createHmac, createSecretKey, type Hmac, type KeyObject } from 'node:crypto'

/** Inferred: a secret is `whsec_` and base64, as in Standard Webhooks. */
const prefix = 'whsec_'

/**
 * One secret, ready to sign in both schemes: key objects are created once, because creating them costs more
 * than signing.
 */
export interface SigningKey {
  /** Standard Webhooks: the bytes that the secret encodes in base64. */
  readonly bytes: KeyObject
  /** Ikw-Signature: the secret as text. */
  readonly text: KeyObject
}

export function signingKey(secret: string): SigningKey {
  if (!secret.startsWith(prefix)) throw new Error(`a signing secret starts with ${prefix}`)
  return {
    bytes: createSecretKey(Buffer.from(secret.slice(prefix.length), 'base64')),
    text: createSecretKey(Buffer.from(secret)),
  }
}

export interface Signed {
  /** Public id of the event. */
  readonly id: string
  readonly at: Date
  readonly body: string
}

export interface SignatureHeaders {
  readonly 'webhook-id': string
  readonly 'webhook-timestamp': string
  readonly 'webhook-signature': string
  readonly 'ikw-signature': string
}

/**
 * Inferred: Standard Webhooks, and beside it a scheme that needs no base64. Each header has one signature per
 * key.
 */
export function signatureHeaders(keys: readonly SigningKey[], { id, at, body }: Signed): SignatureHeaders {
  const seconds = Math.floor(at.getTime() / 1_000)
  const standard = keys.map(({ bytes }) => `v1,${hmac(bytes, `${id}.${seconds}.`, body).digest('base64')}`)
  const own = keys.map(({ text }) => `v1=${hmac(text, `${seconds}.`, body).digest('hex')}`)
  return {
    'webhook-id': id,
    'webhook-timestamp': String(seconds),
    'webhook-signature': standard.join(' '),
    'ikw-signature': [`t=${seconds}`, ...own].join(','),
  }
}

function hmac(key: KeyObject, head: string, body: string): Hmac {
  return createHmac('sha256', key).update(head).update(body)
}
