import t from 'tap'
import { firstMerchant } from '../../services/composition/first-merchant.ts'
import { eventually } from '../support/eventually.ts'
import { mailedToken as newestToken } from '../support/identities/mails.ts'
import { temporaryDirectory } from '../support/postgres.ts'
import { startService, type Answer, type TestService } from '../support/service.ts'
import { goodPassword, newUser, signIn } from '../support/identities/sign-in.ts'

const auth = '/api/v1/auth'
const other = 'encore quatre mots au hasard'
const open = { key: '' }

let service: TestService

t.before(async () => {
  service = await startService(t)
})

const as = (token: string) => ({ key: token })
const me = (token: string) => service.get(`${auth}/me`, as(token))

const mailedToken = (address: string, page: string) => newestToken(service.service, address, page)

function isEnded(answer: Answer): boolean {
  return answer.status === 401
}

t.test('who signs up can work in the sandbox at once, and not in live', async (t) => {
  const { token, email, merchant } = await newUser(service)
  t.match((await me(token)).body, {
    object: 'user',
    email,
    email_verified: false,
    language: 'fr',
    merchant: { id: merchant, name: 'Boutique Awa' },
    organization: { display_name: 'Boutique Awa' },
    role: 'owner',
    environments: ['sandbox'],
  })
  const balance = await eventually(
    () => service.get<{ available: object[] }>('/api/v1/balance', as(token)),
    ({ body }) => body.available.length > 0,
  )
  t.match(balance.body.available, [{ amount: 1_000_000, currency: 'XOF' }])
  const live = { ...as(token), headers: { 'ikw-environment': 'live' } }
  t.match(await service.get('/api/v1/balance', live), { status: 403, body: { code: 'IKW-MERCHANT-003' } })
})

t.test('the first merchant has an owner, whose password is in the credentials file', async (t) => {
  const { owner_email: email, owner_password: password, merchant_id: merchant } = service.service.credentials
  const { token } = await signIn(service, { email, password })
  t.match((await me(token)).body, {
    merchant: { id: merchant },
    role: 'owner',
    environments: ['sandbox', 'live'],
  })
  const live = { ...as(token), headers: { 'ikw-environment': 'live' } }
  t.match(await service.get('/api/v1/balance', live), { status: 200 })
})

t.test('an address is registered once, however it is spelled, and by ten at once', async (t) => {
  const { email } = await newUser(service)
  const body = { email: email.toUpperCase(), password: goodPassword, name: 'Second', merchantName: 'Second' }
  t.match(await service.post(`${auth}/register`, body, open), { status: 409, body: { code: 'IKW-RES-004' } })
  const same = { ...body, email: `ten.${email}` }
  const answers = await Promise.all(
    Array.from({ length: 10 }, () => service.post(`${auth}/register`, same, open)),
  )
  t.equal(answers.filter(({ status }) => status === 201).length, 1)
  t.ok(answers.every(({ status }) => [201, 409].includes(status)))
})

t.test('a password that is easy to guess is refused, also when it is the name', async (t) => {
  const body = {
    email: 'mariama.diallo@example.com',
    name: 'Mariama Diallo',
    merchantName: 'Pagnes de Bamako',
  }
  for (const password of ['password1', 'azertyuiop', 'mariamadiallo', 'Pagnes2026']) {
    const answer = await service.post(`${auth}/register`, { ...body, password }, open)
    t.match(answer, { status: 400, body: { code: 'IKW-REQ-001', param: '/password' } }, password)
  }
})

t.test('a name shows something', async (t) => {
  for (const name of ['   ', '\u200b', '\u00a0\u2060', '\u3164', '\u2800', '\ufe0f']) {
    const body = { email: 'unseen@example.com', password: other, name: 'Unseen', merchantName: name }
    const answer = await service.post(`${auth}/register`, body, open)
    t.match(
      answer,
      { status: 400, body: { code: 'IKW-REQ-001', param: '/merchantName' } },
      JSON.stringify(name),
    )
  }
})

t.test('a wrong password and an unknown address are answered alike', async (t) => {
  const { email } = await newUser(service)
  const wrong = await service.post(`${auth}/login`, { email, password: other }, open)
  const unknown = await service.post(`${auth}/login`, { email: `x${email}`, password: other }, open)
  t.match(wrong, { status: 401, body: { code: 'IKW-AUTH-003' } })
  const shown = ({ request_id, ...rest }: Record<string, unknown>) => rest
  t.strictSame(shown(unknown.body), shown(wrong.body))
  const known = await service.post(`${auth}/forgot-password`, { email }, open)
  const nobody = await service.post(`${auth}/forgot-password`, { email: `y${email}` }, open)
  t.strictSame([nobody.status, nobody.body], [known.status, known.body])
})

t.test('ten failures lock an account for passwords, known or not; a mailed link opens it', async (t) => {
  const { email, password } = await newUser(service)
  for (const address of [email, `nobody.${email}`]) {
    const tries = Array.from({ length: 12 }, () =>
      service.post(`${auth}/login`, { email: address, password: other }, open),
    )
    const statuses = (await Promise.all(tries)).map(({ status }) => status)
    t.equal(statuses.filter((status) => status === 401).length, 10, address)
    t.equal(statuses.filter((status) => status === 423).length, 2, address)
  }
  const locked = await service.post(`${auth}/login`, { email, password }, open)
  t.match(locked, { status: 423, body: { code: 'IKW-AUTH-006', retryable: true } })
  t.ok(Number(locked.headers.get('retry-after')) > 0)
  await service.post(`${auth}/forgot-password`, { email }, open)
  const token = await mailedToken(email, 'reset-password')
  const reset = await service.post(`${auth}/reset-password`, { token, newPassword: other }, open)
  t.match(reset, { status: 200, body: { object: 'acknowledgement' } })
  await signIn(service, { email, password: other })
})

t.test('a mailed link verifies the address once, and a newer one makes it invalid', async (t) => {
  const { email, token } = await newUser(service)
  const first = await mailedToken(email, 'verify-email')
  await service.post(`${auth}/verify-email/resend`, undefined, as(token))
  const newest = await eventually(
    () => mailedToken(email, 'verify-email'),
    (found) => found !== first,
  )
  const verify = (given: string) => service.post(`${auth}/verify-email`, { token: given }, as(token))
  const refused = { status: 401, body: { code: 'IKW-AUTH-005' } }
  t.match(await verify(first), refused)
  t.match(await service.post(`${auth}/reset-password`, { token: newest, newPassword: other }, open), refused)
  t.match(await verify(newest), { status: 200 })
  t.match(await verify(newest), refused)
  t.match((await me(token)).body, { email_verified: true })
  t.match(await service.post(`${auth}/verify-email/resend`, undefined, as(token)), { status: 409 })
})

t.test(
  'a refresh token is spent; two tabs share its successor; who shows an older one ends it all',
  async (t) => {
    const { refreshToken, token } = await newUser(service)
    const refresh = (given: string) => service.post(`${auth}/refresh`, { refreshToken: given }, open)
    const tabs = await Promise.all([refresh(refreshToken), refresh(refreshToken)])
    t.strictSame(
      tabs.map(({ status }) => status),
      [200, 200],
    )
    const second = await refresh(String(tabs[0].body['refresh_token']))
    t.equal(second.status, 200)
    t.equal((await me(String(second.body['access_token']))).status, 200)
    t.match(await refresh(refreshToken), { status: 401, body: { code: 'IKW-AUTH-005' } })
    t.match(await refresh(String(second.body['refresh_token'])), { status: 401 })
    await eventually(() => me(token), isEnded)
    await eventually(() => me(String(second.body['access_token'])), isEnded)
  },
)

t.test('a token is good for one thing: access, refreshing or the purpose of its mail', async (t) => {
  const { token, refreshToken, email } = await newUser(service)
  const link = await mailedToken(email, 'verify-email')
  for (const wrong of [refreshToken, link, `${token.slice(0, -4)}AAAA`, 'eyJhbGciOiJub25lIn0.e30.'])
    t.equal((await me(wrong)).status, 401, wrong)
  for (const wrong of [token, link])
    t.match(await service.post(`${auth}/refresh`, { refreshToken: wrong }, open), { status: 401 })
  t.match(await service.post(`${auth}/verify-email`, { token }, open), { status: 401 })
})

t.test('sessions show where they are used, and end one by one or all but this', async (t) => {
  const person = await newUser(service)
  const [second, third] = [await signIn(service, person), await signIn(service, person)]
  const list = async (token: string) =>
    (
      await service.get<{ data: { id: string; current: boolean; ip: string }[] }>(
        `${auth}/sessions`,
        as(token),
      )
    ).body.data
  t.match(await list(third.token), [
    { id: third.session, current: true, ip: /127\.0\.0\.1/, device: /node|undici/ },
    { id: second.session, current: false },
    { id: person.session, current: false },
  ])
  const ended = await service.call('DELETE', `${auth}/sessions/${second.session}`, undefined, as(third.token))
  t.match(ended, { status: 200, body: { id: second.session, deleted: true } })
  await eventually(() => me(second.token), isEnded)
  const again = await service.call('DELETE', `${auth}/sessions/${second.session}`, undefined, as(third.token))
  t.equal(again.status, 404)
  t.equal((await service.call('DELETE', `${auth}/sessions`, undefined, as(third.token))).status, 200)
  await eventually(() => me(person.token), isEnded)
  t.equal((await list(third.token)).length, 1)
  t.equal((await service.post(`${auth}/logout`, undefined, as(third.token))).status, 200)
  await eventually(() => me(third.token), isEnded)
})

t.test('who changes the password goes on, and everybody else has to sign in again', async (t) => {
  const person = await newUser(service)
  const elsewhere = await signIn(service, person)
  const change = (currentPassword: string) =>
    service.post(`${auth}/change-password`, { currentPassword, newPassword: other }, as(person.token))
  t.match(await change(other), { status: 401, body: { code: 'IKW-AUTH-003' } })
  t.equal((await change(person.password)).status, 200)
  await eventually(() => me(elsewhere.token), isEnded)
  t.equal((await me(person.token)).status, 200)
  t.match(
    await service.post(`${auth}/login`, person && { email: person.email, password: person.password }, open),
    {
      status: 401,
    },
  )
  await signIn(service, { email: person.email, password: other })
})

t.test('the keys of tokens are public', async (t) => {
  const { body } = await service.get<{ keys: { kid: string; x: string; d?: string }[] }>(
    '/.well-known/jwks.json',
  )
  t.match(body.keys, [{ kty: 'OKP', crv: 'Ed25519', alg: 'EdDSA', use: 'sig' }])
  t.notOk(body.keys.some(({ d }) => d !== undefined))
})

t.test(
  'a start with a new data directory on the same log makes a merchant and an owner of its own',
  async (t) => {
    const { owner_email: email, owner_password: password } = await firstMerchant(
      service.service.runtime,
      temporaryDirectory(t),
    )
    t.not(email, service.service.credentials.owner_email)
    t.equal((await service.post(`${auth}/login`, { email, password }, open)).status, 200)
  },
)
