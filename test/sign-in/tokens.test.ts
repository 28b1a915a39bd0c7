import { createHmac } from 'node:crypto'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import t from 'tap'
import {
  newKeyPair,
  openToken,
  signingKey,
  signToken,
  verifyingKey,
} from '../../infra/secrets/signed-tokens.ts'

const issuer = 'https://pay.example'
const now = new Date('2026-01-01T12:00:00Z')
const soon = new Date(now.getTime() + 60_000)
const seconds = now.getTime() / 1_000
const subject = '0190a1b2-0000-7000-8000-000000000001'
const claims = { sub: subject, jti: 'session', iss: issuer, aud: issuer, iat: seconds, exp: seconds + 60 }
const head = { alg: 'EdDSA', kid: 'ours', typ: 'at+jwt' }

const pair = await newKeyPair()
const ours = { id: 'ours', key: await signingKey(pair), issuer, now }
const publicKey = await verifyingKey(pair.publicKey)
const keyOf = async (id: string) => (id === 'ours' ? publicKey : undefined)
const open = (token: string, at = now) => openToken('access', token, { keyOf, issuer, now: at })

const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
const forge = (header: object, payload: object, sign: (text: string) => string) => {
  const text = `${part(header)}.${part(payload)}`
  return `${text}.${sign(text)}`
}
const signed = (header: object, payload: object, key = ours.key) =>
  new SignJWT(payload as never).setProtectedHeader(header as never).sign(key)

t.test('our own token opens until it expires', async (t) => {
  const token = await signToken({ kind: 'access', claims: { subject, id: 'session' }, expiresAt: soon }, ours)
  t.match(await open(token), { claims: { subject, id: 'session' }, expiresAt: soon })
  t.equal(await open(token, soon), undefined)
  t.match(await open(await signed(head, claims)), { claims: { subject } }, 'as the ones below are made')
})

t.test('no other token does', async (t) => {
  const stranger = await generateKeyPair('EdDSA', { extractable: true })
  const strangersKey = await exportJWK(stranger.publicKey)
  const secret = Buffer.from(pair.publicKey, 'base64url')
  const hmac = (text: string) => createHmac('sha256', secret).update(text).digest('base64url')
  const forged: Readonly<Record<string, string>> = {
    'without a signature': forge({ ...head, alg: 'none' }, claims, () => ''),
    'HMAC with the public key': forge({ ...head, alg: 'HS256' }, claims, hmac),
    'a key of the stranger’s': await signed(head, claims, stranger.privateKey),
    'a key that it brings along': await signed({ ...head, jwk: strangersKey }, claims, stranger.privateKey),
    'a key that it names': await signed(
      { ...head, kid: 'https://evil.example/keys' },
      claims,
      stranger.privateKey,
    ),
    'no key': await signed({ alg: 'EdDSA', typ: 'at+jwt' }, claims),
    'a path for a key': await signed({ ...head, kid: '../ours' }, claims),
    'another kind': await signed({ ...head, typ: 'refresh+jwt' }, claims),
    'no kind': await signed({ alg: 'EdDSA', kid: 'ours' }, claims),
    'another installation': await signed(head, { ...claims, iss: 'https://other.example' }),
    'another audience': await signed(head, { ...claims, aud: 'https://other.example' }),
    'no end': await signed(head, { ...claims, exp: undefined }),
    'no user': await signed(head, { ...claims, sub: undefined }),
    'no session': await signed(head, { ...claims, jti: undefined }),
    'one that begins later': await signed(head, { ...claims, nbf: seconds + 30 }),
    nonsense: 'ey.ey.ey',
    long: `ey${'a'.repeat(1_000_000)}.ey.ey`,
  }
  for (const [what, token] of Object.entries(forged)) t.equal(await open(token), undefined, what)
})
