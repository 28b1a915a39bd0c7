import { randomUUID } from 'node:crypto'
import t from 'tap'
import { mailTo } from '../support/identities/mails.ts'
import { challengeFor, proof, totpCode, totpSetup, withTotp } from '../support/identities/second-factors.ts'
import { startService, type TestService } from '../support/service.ts'
import { newUser, signIn, type SignedIn } from '../support/identities/sign-in.ts'

const auth = '/api/v1/auth'
const other = 'encore quatre mots au hasard'
const open = { key: '' }

let service: TestService

t.before(async () => {
  // Codes of authenticators last for thirty seconds, which a slow machine can take for a test.
  const now = new Date()
  service = await startService(t, {}, { clock: () => now })
})

const verify = (challengeId: string, code: string) =>
  service.post(`${auth}/mfa/verify`, { challengeId, code }, open)

async function askedAtSignIn({ email, password }: SignedIn): Promise<string> {
  const { status, body } = await service.post(`${auth}/login`, { email, password }, open)
  t.match(
    { status, body },
    { status: 200, body: { object: 'challenge', method: 'totp', mfa_required: true } },
  )
  t.notOk('access_token' in body)
  return String(body['id'])
}

t.test('an authenticator is asked for at sign-in, with drift of one step and no code twice', async (t) => {
  const user = await newUser(service)
  const { secret } = await withTotp(service, user)
  const id = await askedAtSignIn(user)
  const refused = { status: 401, body: { code: 'IKW-AUTH-004' } }
  t.match(await verify(id, await totpCode(service, secret)), refused, 'it has turned the authenticator on')
  t.match(await verify(id, await totpCode(service, secret, 3)), refused, 'more than one step ahead')
  const next = await totpCode(service, secret, 1)
  const session = await verify(id, next)
  t.match(session, { status: 200, body: { object: 'auth_session', mfa_required: false } })
  const me = await service.get(`${auth}/me`, { key: String(session.body['access_token']) })
  t.match(me, { status: 200, body: { email: user.email } })
  t.match(await verify(id, next), { status: 409 })
  t.match(await verify(await askedAtSignIn(user), next), refused, 'the same code again')
})

t.test('each recovery code stands in for the authenticator once, and new ones replace them', async (t) => {
  const user = await newUser(service)
  const { codes } = await withTotp(service, user)
  t.equal(new Set(codes).size, 10)
  const spelled = codes[0]!.replace('-', ' ').toUpperCase()
  t.match(await verify(await askedAtSignIn(user), spelled), { status: 200 })
  t.match(await verify(await askedAtSignIn(user), codes[0]!), { status: 401 })
  const left = async () => (await service.get(`${auth}/mfa`, { key: user.token })).body['recovery_codes_left']
  t.equal(await left(), 9)
  const challengeId = await proof(service, user, { purpose: 'recovery_codes', code: codes[1]! })
  const made = await service.post(`${auth}/mfa/recovery-codes`, { challengeId }, { key: user.token })
  t.equal(made.status, 201)
  t.equal(await left(), 10)
  t.match(await verify(await askedAtSignIn(user), codes[2]!), { status: 401 })
  t.match(await verify(await askedAtSignIn(user), (made.body['codes'] as string[])[0]!), { status: 200 })
})

t.test('who asks for new recovery codes is never shown older ones', async (t) => {
  const user = await newUser(service)
  const { codes } = await withTotp(service, user)
  const headers = { 'idempotency-key': randomUUID() }
  const generate = async (code: string) => {
    const challengeId = await proof(service, user, { purpose: 'recovery_codes', code })
    return service.post(`${auth}/mfa/recovery-codes`, { challengeId }, { key: user.token, headers })
  }
  const made = await generate(codes[0]!)
  t.equal(made.status, 201)
  const [first] = made.body['codes'] as [string]
  await service.service.runtime.postgres.pool.query(
    `update answers set started_at = now() - interval '31 days' where key = $1`,
    [headers['idempotency-key']],
  )
  t.match(await generate(first), { status: 409, body: { code: 'IKW-REQ-003' } })
})

t.test('a setup needs its own code, and the newest replaces the one before', async (t) => {
  const user = await newUser(service)
  const first = await totpSetup(service, user)
  const second = await totpSetup(service, user)
  const prove = (body: object) => service.post(`${auth}/mfa/totp/verify`, body, { key: user.token })
  t.match(await prove({ secretId: first.secretId, code: first.code }), { status: 409 })
  t.match(await prove({ secretId: second.secretId, code: first.code }), { status: 401 })
  t.match(await prove({ secretId: second.secretId, code: second.code }), { status: 200 })
  t.match(await service.post(`${auth}/mfa/totp/setup`, undefined, { key: user.token }), { status: 409 })
})

t.test('a challenge proves one thing, for one user, once', async (t) => {
  const [user, stranger] = [await newUser(service), await newUser(service)]
  const { codes } = await withTotp(service, user)
  const off = (challengeId: string, key: string) =>
    service.post(`${auth}/mfa/totp/disable`, { challengeId }, { key })
  const refused = { status: 403, body: { code: 'IKW-AUTHZ-004' } }
  t.match(await off(await challengeFor(service, user, 'disable_totp'), user.token), refused, 'not answered')
  const wrong = await proof(service, user, { purpose: 'recovery_codes', code: codes[0]! })
  t.match(await off(wrong, user.token), refused, 'another purpose')
  const right = await proof(service, user, { purpose: 'disable_totp', code: codes[1]! })
  t.match(await off(right, stranger.token), refused, "somebody else's")
  t.match(await off(right, user.token), {
    status: 200,
    body: { totp_enabled: false, recovery_codes_left: 0 },
  })
  t.match(await off(right, user.token), refused, 'again')
  await signIn(service, user)
})

t.test('who has no authenticator gets a code by mail, in French, and five tries', async (t) => {
  const user = await newUser(service)
  const id = await challengeFor(service, user, 'change_password')
  const mail = await mailTo(service.service, user.email, /\d{6} est votre code/)
  const [code] = /\d{6}(?= est votre code)/.exec(mail)!
  const wrong = code === '000000' ? '000001' : '000000'
  const many = await challengeFor(service, user, 'change_password')
  const guesses = await Promise.all(Array.from({ length: 20 }, () => verify(many, wrong)))
  t.equal(guesses.filter(({ status }) => status === 401).length, 5)
  t.equal(guesses.filter(({ status }) => status === 409).length, 15)
  t.match(await service.get(`${auth}/mfa/challenges/${many}`, { key: user.token }), {
    body: { status: 'failed', attempts_left: 0 },
  })
  t.match(await verify(id, code), { status: 200, body: { status: 'verified', purpose: 'change_password' } })
  const changed = await service.post(
    `${auth}/change-password-mfa`,
    { challengeId: id, newPassword: other },
    { key: user.token },
  )
  t.equal(changed.status, 200)
  await signIn(service, { email: user.email, password: other })
})
