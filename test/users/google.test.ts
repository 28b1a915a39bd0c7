import { randomUUID } from 'node:crypto'
import t from 'tap'
import { readConfiguration } from '../../infra/configuration.ts'
import { user as users } from '../../packages/domain/users/user.ts'
import { readState } from '../../packages/kernel/history.ts'
import { eventually } from '../support/eventually.ts'
import { startGoogle, type TestGoogle } from '../support/identities/google.ts'
import { mailedToken } from '../support/identities/mails.ts'
import { proof, withTotp } from '../support/identities/second-factors.ts'
import { startService, type TestService } from '../support/service.ts'
import { as, newUser, type SignedIn } from '../support/identities/sign-in.ts'

const auth = '/api/v1/auth'
const open = { key: '' }
const invalid = { status: 401, body: { code: 'IKW-AUTH-005' } }

let service: TestService
let google: TestGoogle
let later = 0

t.before(async () => {
  google = await startGoogle(t)
  service = await startService(t, google.settings, { clock: () => new Date(Date.now() + later) })
})

const newAccount = () => `g-${randomUUID()}`
const post = (path: string, body: object, who: object) => service.post(`${auth}/google/${path}`, body, who)
const factors = async (user: SignedIn) => (await service.get(`${auth}/mfa`, as(user))).body

interface Begun {
  readonly url: string
  readonly state: string
}

async function begun(path: 'login' | 'connect', body: object, who: object): Promise<Begun> {
  const answer = await post(path, body, who)
  t.match(answer, { status: 200, body: { object: 'oauth_redirect', expires_at: /^20/ } })
  return answer.body as unknown as Begun
}

/** The browser comes back to the service, which sends it on to the page. */
async function callback({ pathname, search }: URL): Promise<URL> {
  const { status, headers } = await service.get(pathname + search, open)
  t.equal(status, 302)
  return new URL(headers.get('location')!)
}

/** What the page then has: the code that came back, and the state that it has kept. */
async function returned({ url, state }: Begun, account: string) {
  const page = await callback(await google.visit(url, account))
  return { code: page.searchParams.get('code')!, state }
}

async function connect(user: SignedIn, account: string) {
  const completion = await returned(await begun('connect', {}, as(user)), account)
  return post('connect/complete', completion, as(user))
}

async function connected(): Promise<{ user: SignedIn; account: string }> {
  const [user, account] = [await newUser(service), newAccount()]
  t.match(await connect(user, account), { status: 200, body: { google_connected: true } })
  return { user, account }
}

async function signIn(account: string) {
  return post('login/complete', await returned(await begun('login', {}, open), account), open)
}

t.test('a connected account signs its user in, with codes that are good once', async (t) => {
  const { user, account } = await connected()
  t.match(await factors(user), { google_connected: true, google_email: `${account}@gmail.example` })
  const completion = await returned(await begun('login', {}, open), account)
  const session = await post('login/complete', completion, open)
  t.match(session, { status: 200, body: { object: 'auth_session', user: { id: user.id } } })
  t.match(await post('login/complete', completion, open), invalid)
  const key = String(session.body['access_token'])
  const isTold = async () => {
    const { body } = await service.get<{ data: { type: string }[] }>(`${auth}/history`, { key })
    return body.data.map(({ type }) => type)
  }
  const told = await eventually(
    isTold,
    (types) => types.filter((type) => type === 'SessionStarted').length > 1,
  )
  t.ok(told.includes('UserGoogleConnected'))
})

t.test('an account that nobody has connected signs nobody in, whatever its address', async (t) => {
  const account = newAccount()
  const email = `${account}@gmail.example`
  const { status } = await service.post(
    `${auth}/register`,
    { email, password: 'quatre mots sans lien', name: 'Awa', merchantName: 'Awa' },
    open,
  )
  t.equal(status, 201)
  t.match(await signIn(account), invalid)
})

t.test('a code is of use only to the page, the user and the purpose that it was asked for', async (t) => {
  const [user, thief, account] = [await newUser(service), await newUser(service), newAccount()]
  const visit = await begun('connect', {}, as(thief))
  const stolen = await returned(visit, account)
  t.match(await post('connect/complete', stolen, as(user)), invalid, 'who was talked into consenting')
  t.match(await post('login/complete', stolen, open), invalid, 'another purpose')
  const other = await begun('connect', {}, as(thief))
  t.match(
    await post('connect/complete', { ...stolen, state: other.state }, as(thief)),
    invalid,
    'another page',
  )
  for (const state of ['v1.x.y', stolen.state.replace(/.{20}$/, 'A'.repeat(20)), 'x'])
    t.match(await post('connect/complete', { ...stolen, state }, as(thief)), invalid)
  t.match(await post('connect/complete', { ...stolen, code: visit.state }, as(thief)), invalid)
  t.match(await factors(thief), { google_connected: false })
  const tries = await Promise.all(
    Array.from({ length: 8 }, () => post('connect/complete', stolen, as(thief))),
  )
  t.equal(tries.filter(({ status }) => status === 200).length, 1)
})

t.test('one account is one user’s alone, and a user has one', async (t) => {
  const [{ user, account }, other] = [await connected(), await newUser(service)]
  t.match(await post('connect', {}, as(user)), { status: 409, body: { code: 'IKW-RES-004' } })
  t.match(await connect(other, account), { status: 409, body: { code: 'IKW-RES-004' } })
  const [one, two, wanted] = [await newUser(service), await newUser(service), newAccount()]
  const both = await Promise.all([connect(one, wanted), connect(two, wanted)])
  t.strictSame(both.map(({ status }) => status).toSorted(), [200, 409])
  t.match(await post('disconnect', {}, as(user)), { status: 200, body: { google_connected: false } })
  t.match(await post('disconnect', {}, as(user)), { status: 409, body: { code: 'IKW-RES-002' } })
  t.match(await signIn(account), invalid)
  const again = await eventually(
    () => connect(other, account),
    ({ status }) => status !== 409,
  )
  t.equal(again.status, 200, 'what is disconnected is free')
})

t.test('what Google says is checked: nonce, issuer, audience, time, signature', async (t) => {
  const { account } = await connected()
  const past = Math.floor(Date.now() / 1_000) - 3_600
  const forgeries = [
    { claims: { nonce: 'another' } },
    { claims: { nonce: undefined } },
    { claims: { iss: 'https://accounts.example' } },
    { claims: { aud: 'another client' } },
    { claims: { exp: past } },
    { isForeign: true as const },
  ]
  for (const forgery of forgeries) {
    google.forge({ ...forgery, claims: { sub: account, ...forgery.claims } })
    const page = await callback(await google.visit((await begun('login', {}, open)).url, account))
    t.match(page.search, /^\?error=server_error$/, JSON.stringify(forgery))
  }
  google.forge({ claims: { sub: account } })
  t.match(await signIn(account), { status: 200 }, 'a token without a fault')
  google.forge(undefined)
})

t.test('the browser must come back with the state and the code of this visit, in time', async (t) => {
  const { account } = await connected()
  const [one, two] = [await begun('login', {}, open), await begun('login', {}, open)]
  const back = await google.visit(one.url, account)
  const mixed = new URL(back)
  mixed.searchParams.set('state', two.state)
  t.match((await callback(mixed)).search, '?error=server_error', 'the code of another visit: PKCE')
  for (const state of ['', 'x', 'x.', 'e30.0123', two.state.slice(0, -1), `${two.state}.x`])
    t.match(await service.get(`${auth}/google/callback?state=${state}&code=x`, open), invalid)
  const page = await service.get(`${auth}/google/callback?state=x`, { headers: { accept: 'text/html' } })
  t.match(page, { status: 303 })
  t.equal(page.headers.get('location'), 'https://pay.example/app?error=invalid_request')
  t.match((await callback(await google.visit(two.url, undefined))).search, '?error=access_denied')
  t.match((await callback(back)).search, /^\?code=/)
  t.match(await service.get(back.pathname + back.search, open), invalid, 'once')
  const late = await google.visit((await begun('login', {}, open)).url, account)
  const slow = await returned(await begun('login', {}, open), account)
  later += 10 * 60_000
  t.match(await service.get(late.pathname + late.search, open), invalid)
  t.match(await post('login/complete', slow, open), { status: 403, body: { code: 'IKW-AUTHZ-004' } })
})

t.test('browsers are sent to pages of the dashboard alone', async (t) => {
  for (const returnUrl of [
    'https://evil.example/app',
    'https://pay.example.evil.example',
    'https://awa:x@pay.example/app',
    'blob:https://pay.example/app',
    'javascript:1',
    'x:/',
  ])
    t.match(await post('login', { returnUrl }, open), { status: 400, body: { param: '/returnUrl' } })
  const { url } = await begun('login', { returnUrl: 'https://pay.example/app/in?next=%2Fteam' }, open)
  const page = await callback(await google.visit(url, newAccount()))
  t.match(page.href, /^https:\/\/pay\.example\/app\/in\?next=%2Fteam&code=v1\./)
  const preview = await begun('login', {}, open)
  const back = await google.visit(preview.url, newAccount())
  await service.call('HEAD', back.pathname + back.search, undefined, open)
  t.match((await callback(back)).searchParams.get('code'), /^v1\./, 'who only looks uses nothing up')
})

t.test('who has a second factor shows it: to connect, to sign in and to disconnect', async (t) => {
  const [user, account] = [await newUser(service), newAccount()]
  const { codes } = await withTotp(service, user)
  t.match(await post('connect', {}, as(user)), { status: 400, body: { param: '/challengeId' } })
  const wrong = await proof(service, user, { purpose: 'google_disconnect', code: codes[0]! })
  t.match(await post('connect', { challengeId: wrong }, as(user)), { status: 403 })
  const challengeId = await proof(service, user, { purpose: 'google_connect', code: codes[1]! })
  const completion = await returned(await begun('connect', { challengeId }, as(user)), account)
  t.match(await post('connect/complete', completion, as(user)), { status: 200 })
  const asked = await signIn(account)
  t.match(asked, { status: 200, body: { object: 'challenge', purpose: 'sign_in', method: 'totp' } })
  t.match(await post('disconnect', {}, as(user)), { status: 400, body: { param: '/challengeId' } })
  t.match(await post('disconnect', { challengeId: wrong }, as(user)), { status: 200 })
})

t.test('whoever has the mailbox takes an account without what a squatter connected', async (t) => {
  const { user, account } = await connected()
  await service.post(`${auth}/magic-link`, { email: user.email }, open)
  const token = await mailedToken(service.service, user.email, 'reset-password')
  const body = { token, newPassword: 'encore quatre mots au hasard' }
  t.equal((await service.post(`${auth}/reset-password`, body, open)).status, 200)
  t.match(await signIn(account), invalid)
})

t.test('nothing readable is stored of the account', async (t) => {
  const { user, account } = await connected()
  const stored = await service.service.runtime.asStored.readAll(0, 100_000)
  t.notOk(JSON.stringify(stored).includes(account))
  const state = await readState(service.service.runtime.dependencies.store, users, user.id)
  t.match(state, { google: { email: `${account}@gmail.example` } })
})

t.test('while Google is away nobody is sent anywhere, and afterwards everybody is', async (t) => {
  const away = await startGoogle(t)
  const [other, none] = [await startService(t, away.settings), await startService(t)]
  const begin = (each: TestService) => each.post<{ url: string }>(`${auth}/google/login`, {}, open)
  away.forge({ status: 500 })
  for (const each of [other, none]) {
    const answer = await begin(each)
    t.match(answer, { status: 503, body: { code: 'IKW-SYS-002', retryable: true } })
    t.ok(answer.headers.get('retry-after'))
  }
  t.match(await begin(none), { body: { detail: /GOOGLE_CLIENT_ID is not set/ } })
  away.forge(undefined)
  const back = await away.visit((await begin(other)).body.url, newAccount())
  const returning = async () => (await other.get(back.pathname + back.search, open)).headers.get('location')
  away.forge({ status: 500 })
  t.match(await returning(), /app\?error=temporarily_unavailable$/)
  away.forge(undefined)
  t.match(await returning(), /app\?code=/, 'the same visit goes on')
  away.close()
  t.equal((await begin(other)).status, 200, 'what Google has said is known for a while')
})

t.test('a Google in plain text is only taken on this machine', (t) => {
  const settings = { GOOGLE_CLIENT_ID: 'ikw', GOOGLE_CLIENT_SECRET: 'x' }
  const issuerOf = (GOOGLE_ISSUER: string) => readConfiguration({ ...settings, GOOGLE_ISSUER }).google?.issuer
  t.equal(readConfiguration(settings).google?.issuer, 'https://accounts.google.com')
  t.equal(issuerOf('http://127.0.0.1:8090'), 'http://127.0.0.1:8090')
  t.throws(
    () => issuerOf('http://accounts.google.com'),
    /^GOOGLE_ISSUER must be a URL that starts with https:/,
  )
  t.throws(() => issuerOf('http://127.0.0.1.evil.example'), /^GOOGLE_ISSUER/)
  t.end()
})
