import type { CryptoKey, JWK } from 'jose'
import type { OpenedToken, TokenClaims, TokenKind } from '../../packages/kernel/ports/credentials.ts'

const algorithm = 'EdDSA'
/** RFC 9068 names that of access tokens; it keeps one kind from passing for another. */
const types: Readonly<Record<TokenKind, string>> = {
  access: 'at+jwt',
  refresh: 'refresh+jwt',
  link: 'link+jwt',
}

let loading: Promise<typeof import('jose')> | undefined
/** Fifty files: they are loaded with the first token. */
const jose = () => (loading ??= import('jose'))

export type Key = CryptoKey | Uint8Array

/** Both halves of an Ed25519 key, in base64url. */
export interface KeyPair {
  readonly publicKey: string
  readonly privateKey: string
}

export async function newKeyPair(): Promise<KeyPair> {
  const { exportJWK, generateKeyPair } = await jose()
  const { privateKey } = await generateKeyPair(algorithm, { extractable: true })
  const { x, d } = await exportJWK(privateKey)
  return { publicKey: x!, privateKey: d! }
}

export function publicJwk(id: string, publicKey: string): JWK {
  return { kty: 'OKP', crv: 'Ed25519', alg: algorithm, use: 'sig', kid: id, x: publicKey }
}

export async function verifyingKey(publicKey: string): Promise<Key> {
  const { importJWK } = await jose()
  return importJWK(publicJwk('', publicKey), algorithm)
}

export async function signingKey({ publicKey, privateKey }: KeyPair): Promise<Key> {
  const { importJWK } = await jose()
  return importJWK({ kty: 'OKP', crv: 'Ed25519', alg: algorithm, x: publicKey, d: privateKey }, algorithm)
}

export interface Signing {
  readonly id: string
  readonly key: Key
  readonly issuer: string
  readonly now: Date
}

interface ToSign {
  readonly kind: TokenKind
  readonly claims: TokenClaims
  readonly expiresAt: Date
}

export async function signToken({ kind, claims, expiresAt }: ToSign, signing: Signing): Promise<string> {
  const { SignJWT } = await jose()
  const { subject, id, ...others } = claims
  return new SignJWT(others)
    .setProtectedHeader({ alg: algorithm, kid: signing.id, typ: types[kind] })
    .setSubject(subject)
    .setJti(id)
    .setIssuer(signing.issuer)
    .setAudience(signing.issuer)
    .setIssuedAt(signing.now)
    .setExpirationTime(expiresAt)
    .sign(signing.key)
}

export interface Opening {
  readonly keyOf: (id: string) => Promise<Key | undefined>
  readonly issuer: string
  readonly now: Date
}

/** `undefined` for whatever is no token of this kind that is good now. */
export async function openToken(
  kind: TokenKind,
  token: string,
  { keyOf, issuer, now }: Opening,
): Promise<OpenedToken | undefined> {
  const { errors, jwtVerify } = await jose()
  const known = async (id: string): Promise<Key> => {
    const key = await keyOf(id)
    if (!key) throw new errors.JWKSNoMatchingKey()
    return key
  }
  try {
    const { payload, protectedHeader } = await jwtVerify(token, ({ kid = '' }) => known(kid), {
      algorithms: [algorithm],
      typ: types[kind],
      issuer,
      audience: issuer,
      currentDate: now,
      requiredClaims: ['sub', 'jti', 'exp'],
    })
    const { sub, jti, exp, iss: _, aud: __, iat: ___, nbf: ____, ...others } = payload
    const claims = { ...others, subject: sub!, id: jti! } as TokenClaims
    return { key: protectedHeader.kid!, claims, expiresAt: new Date(exp! * 1_000) }
  } catch (error) {
    if (error instanceof errors.JOSEError) return undefined
    throw error
  }
}
