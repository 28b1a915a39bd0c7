import t from 'tap'
import { userSessions } from '../../packages/domain/sessions/user-sessions.ts'
import { user } from '../../packages/domain/users/user.ts'
import { knownUser } from '../../services/api/actions/auth/user-accounts.ts'
import { issueKey } from '../support/credentials.ts'
import { eventually } from '../support/eventually.ts'
import { mailedToken, mailTo } from '../support/identities/mails.ts'
import { withTotp } from '../support/identities/second-factors.ts'
import { startService, type TestService } from '../support/service.ts'
import { newUser, signIn, type SignedIn } from '../support/identities/sign-in.ts'
import { changeToken } from '../support/identities/users.ts'

const auth = '/api/v1/auth'
const other = 'encore quatre mots au hasard'
const open = { key: '' }

let service: TestService
let now = Date.now()

t.before(async () => {
  service = await startService(t, {}, { clock: () => new Date(now) })
})

const as = (token: string) => ({ key: token })
const me = (token: string) => service.get(`${auth}/me`, as(token))
const login = ({ email, password }: SignedIn) => service.post(`${auth}/login`, { email, password }, open)
const verify = (token: string, key: string) => service.post(`${auth}/verify-email`, { token }, as(key))

/** Somebody with another's address, and the token that the other one has in the mailbox. */
async function squatting() {
  const squatter = await newUser(service)
  const change = { newEmail: `own.${squatter.email}` }
  const { body } = await service.post(`${auth}/email-change/request`, change, as(squatter.token))
  await withTotp(service, squatter)
  const token = await mailedToken(service.service, squatter.email, 'verify-email')
  return { squatter, token, change: await changeToken(service.service, squatter.id, String(body['id'])) }
}

t.test('who confirms an address without being signed in takes the account over', async (t) => {
  const { squatter, token, change } = await squatting()
  t.equal((await verify(token, '')).status, 200)
  t.equal((await me(squatter.token)).status, 401)
  t.equal((await login(squatter)).status, 401)
  const told = await mailTo(
    service.service,
    squatter.email,
    /ne demande plus de code[^]*mot de passe qui avait été choisi/,
  )
  t.notMatch(told, 'Awa', 'the name is what a stranger has typed')
  const reset = await mailedToken(service.service, squatter.email, 'reset-password')
  const chosen = { token: reset, newPassword: other }
  t.equal((await service.post(`${auth}/reset-password`, chosen, open)).status, 200)
  now += 1
  const owner = await signIn(service, { email: squatter.email, password: other })
  t.match(await me(owner.token), { body: { email_verified: true, mfa_enabled: false } })
  t.match(await service.post(`${auth}/email-change/confirm`, { token: change }, as(owner.token)), {
    status: 401,
    body: { code: 'IKW-AUTH-005' },
  })
})

const balance = (key: string) => service.get('/api/v1/balance', { key })

/** A key that this user issues, and its id. */
async function issued({ token }: SignedIn): Promise<{ key: string; id: string }> {
  const wanted = { name: 'Shop', environment: 'sandbox', scopes: ['balance.read'] }
  return (await service.post<{ key: string; id: string }>(`${auth}/api-keys`, wanted, as(token))).body
}

t.test('nor is a key good that whoever had registered it has issued or rolled', async (t) => {
  const { squatter, token } = await squatting()
  const [one, rolled] = [await issued(squatter), await issued(squatter)]
  const path = `${auth}/api-keys/${rolled.id}/roll`
  const { body: next } = await service.post<{ key: string }>(
    path,
    { overlapSeconds: 600 },
    as(squatter.token),
  )
  const others = await issueKey(service, { merchantId: squatter.merchant, scopes: ['balance.read'] })
  const keys = [one.key, rolled.key, next.key, others]
  for (const key of keys) t.equal((await balance(key)).status, 200)
  t.equal((await verify(token, '')).status, 200)
  const statuses = () => Promise.all(keys.map(async (key) => (await balance(key)).status))
  const ended = await eventually(statuses, (all) => all.filter((status) => status === 401).length >= 3)
  t.strictSame(ended, [401, 401, 401, 200], 'what somebody else has issued stays')
  await mailTo(service.service, squatter.email, /clés d’API/)

  const reset = await mailedToken(service.service, squatter.email, 'reset-password')
  await service.post(`${auth}/reset-password`, { token: reset, newPassword: other }, open)
  now += 1
  const owner = await signIn(service, { email: squatter.email, password: other })
  t.equal((await balance((await issued(owner)).key)).status, 200)
  const typesOf = async () => {
    const path = `${auth}/history?limit=100`
    const { body } = await service.get<{ data: { type: string }[] }>(path, as(owner.token))
    return body.data.map(({ type }) => type)
  }
  const isRevoked = (type: string) => type === 'ApiKeyRevoked'
  // Whose keys a process has ended is listed a moment later.
  const types = await eventually(typesOf, (seen) => seen.filter(isRevoked).length >= 3)
  t.equal(types.filter(isRevoked).length, 3, 'its history tells')
  t.ok(types.includes('UserTakenOver'))
})

t.test('the session of another user proves no more than none', async (t) => {
  const [{ squatter, token }, stranger] = [await squatting(), await newUser(service)]
  t.equal((await verify(token, stranger.token)).status, 200)
  t.equal((await me(squatter.token)).status, 401)
  t.equal((await me(stranger.token)).status, 200)
  t.equal((await login(squatter)).status, 401)
})

t.test('who confirms an address and is signed in loses nothing', async (t) => {
  const user = await newUser(service)
  await withTotp(service, user)
  const token = await mailedToken(service.service, user.email, 'verify-email')
  t.equal((await verify(token, user.token)).status, 200)
  t.match(await me(user.token), { status: 200, body: { email_verified: true, mfa_enabled: true } })
  t.match(await login(user), { status: 200, body: { object: 'challenge' } })
})

t.test('no mailbox comes to belong to an account because its owner opens a link', async (t) => {
  const [squatter, stranger] = [await newUser(service), await newUser(service)]
  const newEmail = `victim.${squatter.email}`
  await service.post(`${auth}/email-change/request`, { newEmail }, as(squatter.token))
  const token = await mailedToken(service.service, newEmail, 'email-change')
  const confirm = (key: string) => service.post(`${auth}/email-change/confirm`, { token }, as(key))
  t.equal((await confirm('')).status, 401)
  t.match(await confirm(stranger.token), { status: 401, body: { code: 'IKW-AUTH-005' } })
  t.match(await me(squatter.token), { body: { email: squatter.email } })
  t.match(await confirm(squatter.token), { status: 200, body: { status: 'completed' } })
})

t.test('an account without a password loses its sessions too, whoever dies after it is taken', async (t) => {
  const { id, email } = await newUser(service)
  const { dependencies } = service.service.runtime
  const { executor, newId } = dependencies
  const own = { user: id, actor: 'test', correlation: 'test' }
  const verifying = async () => {
    const { links } = await eventually(
      () => knownUser(dependencies, id),
      ({ links }) => links.verify_email !== undefined,
    )
    const data = { link: links.verify_email!.id, reset: newId() }
    await executor.send(user, id, { type: 'VerifyEmail', data }, own)
  }
  await verifying()
  const moved = { email: `own.${email}`, held: [], replaces: newId(), from: email }
  await executor.send(user, id, { type: 'ChangeEmail', data: moved }, own)
  await executor.send(user, id, { type: 'RequestEmailVerification', data: { link: newId() } }, own)
  now += 1
  const place = { device: null, address: null, country: null }
  const started = { session: newId(), method: 'magic_link', merchant: null, endings: 0, ...place } as const
  await executor.send(
    userSessions,
    id,
    { type: 'StartSession', data: { ...started, mayEndOldest: true } },
    own,
  )
  await verifying()
  const active = async () => (await executor.current(userSessions, id)).state.active
  t.strictSame(await eventually(active, ({ length }) => length === 0), [])
})
