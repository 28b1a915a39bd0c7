import { hmacSha256 } from '../../infra/secrets/hmac.ts'

/** Inferred: a secret is `whsec_` and base64, as in Standard Webhooks. */
const prefix = 'whsec_'

/** One secret, ready to sign in both schemes. */
export interface SigningKey {
  /** Standard Webhooks: the bytes that the secret encodes in base64. */
  readonly bytes: Buffer
  /** Ikw-Signature: the secret as text. */
  readonly text: Buffer
}

export function signingKey(secret: string): SigningKey {
  if (!secret.startsWith(prefix)) throw new Error(`a signing secret starts with ${prefix}`)
  return {
    bytes: Buffer.from(secret.slice(prefix.length), 'base64'),
    text: Buffer.from(secret),
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
  const standard = keys.map(({ bytes }) => `v1,${hmacSha256(bytes, `${id}.${seconds}.${body}`, 'base64')}`)
  const own = keys.map(({ text }) => `v1=${hmacSha256(text, `${seconds}.${body}`, 'hex')}`)
  return {
    'webhook-id': id,
    'webhook-timestamp': String(seconds),
    'webhook-signature': standard.join(' '),
    'ikw-signature': [`t=${seconds}`, ...own].join(','),
  }
}
