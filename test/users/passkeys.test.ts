import t from 'tap'
import { user as users } from '../../packages/domain/users/user.ts'
import { lawOver } from '../support/law.ts'
import { mailedToken } from '../support/identities/mails.ts'
import {
  created,
  newDevice,
  unverified,
  used,
  type Device,
  type Options,
} from '../support/identities/passkeys.ts'
import { challengeFor, proof, totpCode } from '../support/identities/second-factors.ts'
import { startService, type Answer, type TestService } from '../support/service.ts'
import { as, newUser, type SignedIn } from '../support/identities/sign-in.ts'

const passkeys = '/api/v1/auth/passkeys'
const open = { key: '' }
const origin = 'https://pay.example'
const refused = { status: 401, body: { code: 'IKW-AUTH-004' } }

let service: TestService

t.before(async () => {
  service = await startService(t, { DASHBOARD_URL: `${origin}/app` })
})

const post = (path: string, body: object, options: object) =>
  service.post<never>(`${passkeys}/${path}`, body, options) as Promise<Answer<Record<string, unknown>>>
const options = async (path: string, body: object, who: object): Promise<Options> =>
  (await post(path, body, who)).body as unknown as Options

async function register(user: SignedIn, device: Device): Promise<string> {
  const wanted = await options('registration/begin', {}, as(user))
  const body = { attestationResponse: created(device, wanted, { origin }), nickname: 'Téléphone' }
  const { status, body: passkey } = await post('registration/complete', body, as(user))
  t.equal(status, 201)
  return String(passkey['id'])
}

async function registered(): Promise<{ user: SignedIn; device: Device; id: string }> {
  const [user, device] = [await newUser(service), newDevice()]
  return { user, device, id: await register(user, device) }
}

const signIn = (assertionResponse: object | string) => post('login/complete', { assertionResponse }, open)

async function proven(user: SignedIn, device: Device, purpose: string): Promise<string> {
  const wanted = await options('assertion/begin', { purpose }, as(user))
  const assertionResponse = used(device, wanted, { origin })
  const { status, body } = await post('assertion/complete', { assertionResponse }, as(user))
  t.match({ status, body }, { status: 200, body: { status: 'verified', purpose, method: 'passkey' } })
  return String(body['id'])
}

t.test('a mailed code stands in for a passkey, and for nothing where an authenticator is on', async (t) => {
  const { user, id } = await registered()
  t.match((await service.get('/api/v1/auth/mfa', as(user))).body, { passkeys: 1, email_otp: true })
  const remove = (challengeId: string) =>
    service.call('DELETE', `${passkeys}/${id}?challengeId=${challengeId}`, undefined, as(user))
  t.equal((await remove(await challengeFor(service, user, 'remove_passkey'))).status, 403, 'not answered')
  const enable = { challengeId: await proof(service, user, { purpose: 'enable_totp' }) }
  const setup = await service.post('/api/v1/auth/mfa/totp/setup', enable, as(user))
  const { secret_id: secretId, secret } = setup.body as { secret_id: string; secret: string }
  const on = { secretId, code: await totpCode(service, secret) }
  t.equal((await service.post('/api/v1/auth/mfa/totp/verify', on, as(user))).status, 200)
  t.match((await service.get('/api/v1/auth/mfa', as(user))).body, { email_otp: false })
  const challengeId = await challengeFor(service, user, 'remove_passkey')
  const code = await service.service.runtime.dependencies.codes.of(challengeId)
  const mailed = await service.post('/api/v1/auth/mfa/verify', { challengeId, code }, open)
  t.match(mailed, { status: 401 }, 'what would be mailed proves nothing')
  t.equal((await remove(challengeId)).status, 403)
})

t.test('a passkey signs in without a password, and its answer is good once', async (t) => {
  const { user, device, id } = await registered()
  const answer = used(device, await options('login/begin', {}, open), { origin })
  t.match(await signIn(answer), { status: 200, body: { object: 'auth_session', user: { id: user.id } } })
  t.match(await signIn(answer), { status: 409 })
  const named = await options('login/begin', { email: user.email }, open)
  t.ok(named.public_key.allowCredentials!.some(({ id: listed }) => listed === device.credential))
  t.match(await signIn(JSON.stringify(used(device, named, { origin }))), { status: 200 })
  const { body } = await service.get(`${passkeys}/${id}`, as(user))
  t.match(body, { nickname: 'Téléphone', transports: ['internal', 'hybrid'], last_used_at: /^20/ })
})

t.test('whoever locks somebody’s password does not lock their passkey', async (t) => {
  const { user, device } = await registered()
  const login = (password: string) =>
    service.post('/api/v1/auth/login', { email: user.email, password }, open)
  for (const _ of Array.from({ length: 10 })) await login('encore quatre mots au hasard')
  t.equal((await login(user.password)).status, 423)
  const answer = used(device, await options('login/begin', {}, open), { origin })
  t.match(await signIn(answer), { status: 200, body: { user: { id: user.id } } })
})

t.test('only the right key, page, user verification and challenge sign in', async (t) => {
  const { device } = await registered()
  const wanted = await options('login/begin', {}, open)
  const wrong = [
    used({ ...device, privateKey: newDevice().privateKey }, wanted, { origin }),
    used(device, wanted, { origin: 'https://pay.example.evil.example' }),
    used(device, wanted, { origin, host: 'evil.example' }),
    used(device, wanted, { origin, flags: unverified }),
  ]
  for (const answer of wrong) t.match(await signIn(answer), refused)
  const forged = { ...wanted, public_key: { challenge: Buffer.alloc(32).toString('base64url') } }
  t.match(await signIn(used(device, forged, { origin })), refused)
  t.match(await signIn(used(newDevice(), wanted, { origin })), refused, 'a key that nobody has')
  t.match(await signIn(used(device, wanted, { origin })), { status: 409 }, 'after five wrong answers')
  for (const nonsense of [{}, { response: {} }, { response: { clientDataJSON: 'e30' } }, '[]'])
    t.match(await signIn(nonsense), refused)
  t.match(await signIn('{'), { status: 400, body: { param: '/assertionResponse' } })
})

t.test('a copy of a device that counts is found out', async (t) => {
  const { device } = await registered()
  const use = async (counter: number) => {
    device.counter = counter
    return (await signIn(used(device, await options('login/begin', {}, open), { origin }))).status
  }
  t.strictSame([await use(7), await use(7), await use(3), await use(8)], [200, 401, 401, 200])
})

t.test('what begins a sign-in looks alike for who has passkeys, who has none, and nobody', async (t) => {
  const [{ user, device }, without] = [await registered(), await newUser(service)]
  const begun = async (email: string) => (await options('login/begin', { email }, open)).public_key
  const listed = async (email: string) => (await begun(email)).allowCredentials!.map(({ id }) => id)
  const shape = async (email: string) => {
    const { challenge, allowCredentials, ...asked } = await begun(email)
    return { ...asked, challenge: challenge.length, count: allowCredentials!.length }
  }
  const known = await shape(user.email)
  t.strictSame(await shape(without.email), known)
  t.strictSame(await shape(`nobody.${user.email}`), known)
  t.strictSame(await listed(without.email), await listed(` ${without.email.toUpperCase()} `.trim()))
  t.equal((await listed(user.email)).filter((id) => id === device.credential).length, 1)
  const bytes = (await Promise.all(Array.from({ length: 10 }, (_, index) => listed(`${index}@example.com`))))
    .flat()
    .map((id) => Buffer.from(id, 'base64url'))
  t.equal(new Set(bytes.map((id) => id.toString('hex'))).size, bytes.length, 'each address has its own')
  const found = new Set(bytes.map((id) => id.length))
  t.ok(
    [16, 20, 32, 64].every((length) => found.has(length)),
    'as long as those of devices',
  )
  const versions = new Set(bytes.map((id) => id[6]! >> 4))
  t.equal(versions.size, 16, 'no digit gives them away')
})

t.test('a passkey stands for a code where a challenge is asked for, for one purpose and user', async (t) => {
  const [{ user, device }, stranger] = [await registered(), await registered()]
  const challengeId = await proven(user, device, 'change_password')
  const change = (key: object) =>
    service.post(
      '/api/v1/auth/change-password-mfa',
      { challengeId, newPassword: 'encore quatre mots au hasard' },
      key,
    )
  t.match(await change(as(stranger.user)), { status: 403, body: { code: 'IKW-AUTHZ-004' } })
  t.match(await change(as(user)), { status: 200 })
  const wanted = await options('assertion/begin', { purpose: 'api_key' }, as(user))
  const complete = (who: SignedIn, by: Device) =>
    post('assertion/complete', { assertionResponse: used(by, wanted, { origin }) }, as(who))
  t.match(await complete(stranger.user, stranger.device), refused, "somebody else's challenge")
  t.match(await complete(user, stranger.device), refused, "somebody else's key")
  t.match(await signIn(used(device, wanted, { origin })), refused, 'it is for no sign-in')
  const guess = { challengeId: wanted.challenge_id, code: '123456' }
  t.match(await service.post('/api/v1/auth/mfa/verify', guess, open), refused, 'no code stands for it')
  t.match(await post('assertion/begin', { purpose: 'api_key' }, as(await newUser(service))), { status: 409 })
})

t.test('a second passkey, its removal and a change of address need a proof', async (t) => {
  const { user, device, id } = await registered()
  const needed = { status: 400, body: { param: '/challengeId' } }
  t.match(await post('registration/begin', {}, as(user)), needed)
  const change = { newEmail: `new.${user.email}` }
  t.match(await service.post('/api/v1/auth/email-change/request', change, as(user)), needed)
  const remove = (query = '') => service.call('DELETE', `${passkeys}/${id}${query}`, undefined, as(user))
  t.match(await remove(), needed)
  const other = await proven(user, device, 'passkey_registration')
  t.match(await remove(`?challengeId=${other}`), { status: 403 })
  t.match(await post('registration/begin', { challengeId: other }, as(user)), { status: 200 })
  const challengeId = await proven(user, device, 'remove_passkey')
  t.match(await remove(`?challengeId=${challengeId}`), { status: 200, body: { id, deleted: true } })
  t.match(await remove(`?challengeId=${challengeId}`), { status: 404 })
  const answer = used(device, await options('login/begin', {}, open), { origin })
  t.match(await signIn(answer), refused, 'it signs in no more')
})

t.test('a passkey belongs to one user, and is registered by an answer of its own', async (t) => {
  const [{ device }, user] = [await registered(), await newUser(service)]
  const complete = async (behaviour: object, by = newDevice()) => {
    const wanted = await options('registration/begin', {}, as(user))
    const attestationResponse = created(by, wanted, { origin, ...behaviour })
    return post('registration/complete', { attestationResponse }, as(user))
  }
  t.match(await complete({}, device), { status: 409, body: { code: 'IKW-RES-004' } })
  t.match(await complete({ flags: unverified }), refused)
  t.match(await complete({ origin: 'http://pay.example' }), refused)
  const begun = await options('registration/begin', {}, as(user))
  const foreign = { attestationResponse: created(newDevice(), begun, { origin }) }
  t.match(await post('registration/complete', foreign, as(await newUser(service))), refused)
  const wanted = await challengeFor(service, user, 'passkey_registration')
  const guess = { challenge_id: wanted, public_key: { challenge: wanted } }
  const made = { attestationResponse: created(newDevice(), guess, { origin }) }
  t.match(await post('registration/complete', made, as(user)), refused)
})

t.test(
  'of the ids that are listed for an address, none is told from another by registering it',
  async (t) => {
    const [{ user, device }, stranger] = [await registered(), await newUser(service)]
    const listed = async (email: string) =>
      (await options('login/begin', { email }, open)).public_key.allowCredentials!.map(({ id }) => id)
    const complete = async (credential: string) => {
      const wanted = await options('registration/begin', {}, as(stranger))
      const attestationResponse = created({ ...newDevice(), credential }, wanted, { origin })
      const { status, body } = await post('registration/complete', { attestationResponse }, as(stranger))
      const { id: _, request_id: __, ...said } = body
      return { status, said }
    }
    const real = await complete(device.credential)
    t.match(real, { status: 409, said: { code: 'IKW-RES-004' } })
    const ids = [...(await listed(user.email)), ...(await listed(`nobody.${user.email}`)).slice(0, 5)]
    await lawOver(t, ids, async (id) => {
      t.strictSame(await complete(id), real)
    })
    t.equal((await complete(newDevice().credential)).status, 201)
  },
)

t.test('a passkey is renamed and listed by its user alone', async (t) => {
  const [{ user, id }, stranger] = [await registered(), await newUser(service)]
  const rename = (who: SignedIn, nickname: string | null) =>
    service.call('PATCH', `${passkeys}/${id}`, { nickname }, as(who))
  t.match(await rename(user, 'Clé'), { status: 200, body: { nickname: 'Clé' } })
  t.match(await rename(user, null), { status: 200, body: { nickname: null } })
  t.match(await rename(stranger, 'Mine'), { status: 404 })
  t.match(await service.get(`${passkeys}/${id}`, as(stranger)), { status: 404 })
  t.match((await service.get(passkeys, as(user))).body, { data: [{ id }] })
  t.match((await service.get(passkeys, as(stranger))).body, { data: [] })
  t.match((await service.get('/api/v1/auth/mfa', as(user))).body, { passkeys: 1 })
})

t.test('whoever opens a mailed link removes the passkeys of who registered a foreign address', async (t) => {
  const { user: squatter, device } = await registered()
  await service.post('/api/v1/auth/forgot-password', { email: squatter.email }, open)
  const token = await mailedToken(service.service, squatter.email, 'reset-password')
  const reset = { token, newPassword: 'encore quatre mots au hasard' }
  t.match(await service.post('/api/v1/auth/reset-password', reset, open), { status: 200 })
  t.match(await signIn(used(device, await options('login/begin', {}, open), { origin })), refused)
})

t.test('who has left signs in no more, and answers no challenge', async (t) => {
  const { user: leaver, device } = await registered()
  const [wanted, asked] = [
    await options('login/begin', {}, open),
    await challengeFor(service, leaver, 'remove_passkey'),
  ]
  const { executor, codes } = service.service.runtime.dependencies
  const envelope = { user: leaver.id, actor: 'test', correlation: 'test' }
  await executor.send(users, leaver.id, { type: 'LeaveUser', data: {} }, envelope)
  t.match(await signIn(used(device, wanted, { origin })), refused)
  const answer = { challengeId: asked, code: await codes.of(asked) }
  t.match(await service.post('/api/v1/auth/mfa/verify', answer, open), { status: 409 })
})

t.test('a mailed code proves the same, for who has lost the device', async (t) => {
  const { user, id } = await registered()
  const challengeId = await proof(service, user, { purpose: 'remove_passkey' })
  const gone = await service.call(
    'DELETE',
    `${passkeys}/${id}?challengeId=${challengeId}`,
    undefined,
    as(user),
  )
  t.match(gone, { status: 200 })
})
