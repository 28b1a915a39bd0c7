import { hash } from 'node:crypto'
import canonicalize from 'canonicalize'
import t from 'tap'
import { Refusal } from '../../packages/contract/refusals.ts'
import { userSessions } from '../../packages/domain/sessions/user-sessions.ts'
import { user as users } from '../../packages/domain/users/user.ts'
import { startSession } from '../../services/api/actions/auth/auth-sessions.ts'
import { knownUser } from '../../services/api/actions/auth/user-accounts.ts'
import { eventually } from '../support/eventually.ts'
import { holdOwnAppends } from '../support/event-store/held-appends.ts'
import { mailedToken, mailsTo, mailTo } from '../support/identities/mails.ts'
import { challengeFor, proof, withTotp } from '../support/identities/second-factors.ts'
import { startService, type TestService } from '../support/service.ts'
import { newUser, signIn, type SignedIn } from '../support/identities/sign-in.ts'
import { changeToken } from '../support/identities/users.ts'

const auth = '/api/v1/auth'
const other = 'encore quatre mots au hasard'
const open = { key: '' }
const minute = 60_000
const nowhere = { device: null, address: null, country: null }

let service: TestService
let now = Date.now()

t.before(async () => {
  service = await startService(t, {}, { clock: () => new Date(now) })
})

const as = (token: string) => ({ key: token })
const verify = (challengeId: string, code: string) =>
  service.post(`${auth}/mfa/verify`, { challengeId, code }, open)
const login = (email: string, password: string) => service.post(`${auth}/login`, { email, password }, open)

async function challengeAtSignIn({ email, password }: SignedIn): Promise<string> {
  const { body } = await login(email, password)
  t.match(body, { object: 'challenge' })
  return String(body['id'])
}

async function changePassword({ token, password }: Pick<SignedIn, 'token' | 'password'>): Promise<void> {
  const body = { currentPassword: password, newPassword: other }
  t.equal((await service.post(`${auth}/change-password`, body, as(token))).status, 200)
}

t.test('what was proved with a password is worth nothing once it is changed', async (t) => {
  const user = await newUser(service)
  const { codes } = await withTotp(service, user)
  const { dependencies } = service.service.runtime
  const begun = await challengeAtSignIn(user)
  const proved = await knownUser(dependencies, user.id)
  await changePassword(user)
  t.match(await verify(begun, codes[0]!), { status: 409 })
  const envelope = { platform: true, actor: 'test', correlation: 'test' } as const
  const client = { address: null, device: null, country: null, language: null }
  const late = { id: user.id, state: proved }
  await t.rejects(startSession({ dependencies, envelope, client }, late, { method: 'password' }), Refusal)
  const sessions = await service.get<{ data: object[] }>(`${auth}/sessions`, as(user.token))
  t.equal(sessions.body.data.length, 1)
  t.equal((await verify(await challengeAtSignIn({ ...user, password: other }), codes[0]!)).status, 200)
})

t.test(
  'what was proved before the password was changed does not end the oldest of fifty sessions',
  async (t) => {
    const { id, token, password } = await newUser(service)
    const { dependencies } = service.service.runtime
    const { executor, newId } = dependencies
    const late = { id, state: await knownUser(dependencies, id) }
    await changePassword({ token, password })
    const about = { method: 'password', merchant: null, endings: 1, mayEndOldest: false, ...nowhere } as const
    const envelope = { actor: 'test', correlation: 'test' } as const
    const start = () => ({
      command: { type: 'StartSession', data: { session: newId(), ...about } } as const,
      envelope: { user: id, ...envelope },
    })
    await executor.sendAll(userSessions, id, Array.from({ length: 50 }, start))
    const going = async () => (await executor.current(userSessions, id)).state.active.map((one) => one.id)
    const before = await going()
    t.equal(before.length, 50)
    const request = {
      dependencies,
      envelope: { platform: true as const, ...envelope },
      client: { language: null, ...nowhere },
    }
    const starting = { method: 'password', confirm: async () => undefined } as const
    await t.rejects(startSession(request, late, starting), Refusal)
    t.strictSame(await going(), before)
  },
)

t.test('wrong codes count over all challenges, and lock the authenticator for a while', async (t) => {
  const user = await newUser(service)
  const { codes } = await withTotp(service, user)
  const statuses: number[] = []
  for (const _ of [1, 2, 3]) {
    const id = await challengeAtSignIn(user)
    for (const __ of [1, 2, 3, 4, 5]) statuses.push((await verify(id, '000000')).status)
  }
  t.strictSame(statuses, [...Array<number>(10).fill(401), ...Array<number>(5).fill(423)])
  const stepUp = await challengeFor(service, user, 'disable_totp')
  t.match(await verify(stepUp, codes[0]!), { status: 423, body: { code: 'IKW-AUTH-006' } })
  now += 15 * minute
  t.equal((await verify(await challengeAtSignIn(user), codes[0]!)).status, 200)
})

t.test('a challenge that is over spends no recovery code', async (t) => {
  const user = await newUser(service)
  const { codes } = await withTotp(service, user)
  const id = await challengeAtSignIn(user)
  now += 10 * minute
  t.match(await verify(id, codes[0]!), { status: 401 })
  t.equal((await verify(await challengeAtSignIn(user), codes[0]!)).status, 200)
})

t.test('one recovery code opens one session, however often it is shown at once', async (t) => {
  const user = await newUser(service)
  const { codes } = await withTotp(service, user)
  const ids = await Promise.all(Array.from({ length: 8 }, () => challengeAtSignIn(user)))
  const answers = await Promise.all(ids.map((id) => verify(id, codes[0]!)))
  t.equal(answers.filter(({ status }) => status === 200).length, 1)
})

t.test('another spelling of an address is the same address, which stays with its user', async (t) => {
  const [user, leaver] = [await newUser(service), await newUser(service)]
  const spelled = user.email.toUpperCase()
  const change = async (person: SignedIn, newEmail: string) => {
    const challengeId = await proof(service, person, { purpose: 'change_email' })
    return service.post(`${auth}/change-email`, { challengeId, newEmail }, as(person.token))
  }
  const registered = (email: string) =>
    service.post(`${auth}/register`, { email, password: other, name: 'B', merchantName: 'B' }, open)
  t.match(await change(user, spelled), { status: 200, body: { email: spelled, email_verified: false } })
  t.match(await change(leaver, `left.${leaver.email}`), { status: 200 })
  const taken = await eventually(
    () => registered(leaver.email),
    ({ status }) => status !== 409,
  )
  t.equal(taken.status, 201, 'what was freed after it is free')
  t.equal((await registered(user.email)).status, 409)
  await signIn(service, user)
})

t.test('who has the mailbox takes an account from somebody who registered a foreign address', async (t) => {
  const squatter = await newUser(service)
  await withTotp(service, squatter)
  await service.post(`${auth}/magic-link`, { email: squatter.email }, open)
  const token = await mailedToken(service.service, squatter.email, 'reset-password')
  const reset = await service.post(`${auth}/reset-password`, { token, newPassword: other }, open)
  t.equal(reset.status, 200)
  // Whatever began at the same moment as the new password, or before, ends with the old one.
  now += 1
  const owner = await signIn(service, { email: squatter.email, password: other })
  t.match(await service.get(`${auth}/me`, as(owner.token)), { body: { email_verified: true } })
  await eventually(
    () => service.get(`${auth}/me`, as(squatter.token)),
    ({ status }) => status === 401,
  )
})

t.test('a change of address that somebody began before the password changed is canceled', async (t) => {
  const begun = async ({ id, email, token }: SignedIn) => {
    const newEmail = `stolen.${email}`
    const { body } = await service.post(`${auth}/email-change/request`, { newEmail }, as(token))
    return { id: String(body['id']), link: await changeToken(service.service, id, String(body['id'])) }
  }
  const confirm = ({ token: key }: SignedIn, token: string) =>
    service.post(`${auth}/email-change/confirm`, { token }, { key })

  const changing = await newUser(service)
  const ofSession = await begun(changing)
  await changePassword(changing)
  t.match(await confirm(changing, ofSession.link), { status: 401, body: { code: 'IKW-AUTH-005' } })
  const shown = await service.get(`${auth}/email-change/requests/${ofSession.id}`, as(changing.token))
  t.match(shown, { status: 200, body: { status: 'canceled' } })

  const squatter = await newUser(service)
  const ofSquatter = await begun(squatter)
  await service.post(`${auth}/forgot-password`, { email: squatter.email }, open)
  const token = await mailedToken(service.service, squatter.email, 'reset-password')
  t.equal((await service.post(`${auth}/reset-password`, { token, newPassword: other }, open)).status, 200)
  now += 1
  const owner = await signIn(service, { email: squatter.email, password: other })
  t.match(await confirm(owner, ofSquatter.link), { status: 401, body: { code: 'IKW-AUTH-005' } })

  const proving = await newUser(service)
  const before = await begun(proving)
  const { codes } = await withTotp(service, proving)
  const challengeId = await proof(service, proving, { purpose: 'change_email', code: codes[0]! })
  const change = { challengeId, newEmail: `own.${proving.email}` }
  t.equal((await service.post(`${auth}/change-email`, change, as(proving.token))).status, 200)
  t.match(await confirm(proving, before.link), { status: 401 })
})

t.test('of two who change the password at once one does, and the other is signed out', async (t) => {
  const one = await newUser(service)
  const sessions = [one, await signIn(service, one)]
  const change = ({ token }: SignedIn, newPassword: string) =>
    service.post(`${auth}/change-password`, { currentPassword: one.password, newPassword }, as(token))
  const passwords = ['les premiers quatre mots au hasard', 'les seconds quatre mots au hasard']
  const answers = await Promise.all(sessions.map((session, which) => change(session, passwords[which]!)))
  t.equal(answers.filter(({ status }) => status === 200).length, 1)
  const me = await Promise.all(sessions.map(({ token }) => service.get(`${auth}/me`, as(token))))
  t.strictSame(
    me.map(({ status }) => status),
    answers.map(({ status }) => (status === 200 ? 200 : 401)),
  )
})

t.test('a key that is issued while its session ends is good for nothing', async (t) => {
  const user = await newUser(service)
  const { token } = await signIn(service, user)
  const wanted = { name: 'Shop', environment: 'sandbox', scopes: ['balance.read'] }
  const issue = () => service.post(`${auth}/api-keys`, wanted, as(token))
  const { body: kept } = await issue()
  const held = holdOwnAppends(service.service.runtime.dependencies.store, 'ApiKeyIssued')
  const asked = issue()
  await held.begun
  const ended = await service.call('DELETE', `${auth}/sessions`, undefined, as(user.token))
  held.release()
  t.equal(ended.status, 200)
  t.match(await asked, { status: 401, body: { code: 'IKW-AUTH-002' } })
  const { body } = await eventually(
    () => service.get<{ data: readonly { status: string }[] }>(`${auth}/api-keys`, as(user.token)),
    (answer) => answer.body.data.some(({ status }) => status === 'revoked'),
  )
  t.match(body.data, [{ status: 'revoked' }, { id: kept['id'], status: 'active' }])
})

t.test('who rolls a key while the session ends is told to sign in again and create one', async (t) => {
  const user = await newUser(service)
  const second = await signIn(service, user)
  const wanted = { name: 'Shop', environment: 'sandbox', scopes: ['balance.read'] }
  const { body: old } = await service.post(`${auth}/api-keys`, wanted, as(user.token))
  const held = holdOwnAppends(service.service.runtime.dependencies.store, 'ApiKeyRolled')
  const asked = service.post(`${auth}/api-keys/${String(old['id'])}/roll`, {}, as(second.token))
  await held.begun
  const ended = await service.call('DELETE', `${auth}/sessions`, undefined, as(user.token))
  held.release()
  t.equal(ended.status, 200)
  t.match(await asked, { status: 401, body: { code: 'IKW-AUTH-002', detail: /sign in and create a key/ } })
  await eventually(
    () => service.get<{ data: readonly { status: string }[] }>(`${auth}/api-keys`, as(user.token)),
    ({ body: { data } }) => data.map(({ status }) => status).join() === 'revoked,revoked',
  )
  const again = await signIn(service, user)
  const { body: next } = await service.post(`${auth}/api-keys`, wanted, as(again.token))
  t.match(await service.get('/api/v1/balance', { key: String(next['key']) }), { status: 200 })
})

t.test('a mail says nothing that somebody else has written', async (t) => {
  const lure = 'Votre compte est bloqué : https://evil.example'
  const body = { password: other, name: lure, merchantName: lure }
  const email = `victim.${now}@example.com`
  const { body: session } = await service.post(`${auth}/register`, { ...body, email }, open)
  await mailedToken(service.service, email, 'verify-email')
  const newEmail = `second.${email}`
  await service.post(`${auth}/email-change/request`, { newEmail }, as(String(session['access_token'])))
  await mailedToken(service.service, newEmail, 'email-change')
  for (const address of [email, newEmail])
    t.notOk(
      mailsTo(service.service, address).some((mail) => mail.includes('evil.example')),
      address,
    )
})

t.test('who shows a spent token ends the session, and its user is told', async (t) => {
  const { email, refreshToken } = await newUser(service)
  const refresh = (given: string) => service.post(`${auth}/refresh`, { refreshToken: given }, open)
  const second = await refresh(refreshToken)
  t.equal((await refresh(String(second.body['refresh_token']))).status, 200)
  t.equal((await refresh(refreshToken)).status, 401)
  await mailTo(service.service, email, /session/)
})

t.test('a repeat of a request that an older version has begun does nothing again', async (t) => {
  const user = await newUser(service)
  const request = { currentPassword: user.password, newPassword: other }
  const older = canonicalize({ params: {}, body: request })!
  const envelope = {
    ...{ user: user.id, actor: 'test', correlation: 'test', idempotencyKey: 'change' },
    fingerprint: hash('sha256', older),
  }
  const { executor, passwords } = service.service.runtime.dependencies
  const data = { password: await passwords.hash(other, []), session: user.session }
  await executor.send(users, user.id, { type: 'ChangePassword', data }, envelope)
  const headers = { 'idempotency-key': 'change' }
  t.match(await service.post(`${auth}/change-password`, request, { key: user.token, headers }), {
    status: 200,
  })
})
