import { randomUUID } from 'node:crypto'
import t from 'tap'
import { startApi } from '../../services/api/main.ts'
import { ApiKeys } from '../../services/api/http/credentials/authenticate.ts'
import { KeyUses } from '../../services/api/http/credentials/key-uses.ts'
import { openRuntime } from '../../services/composition/dependencies.ts'
import { eventually } from '../support/eventually.ts'
import { ownerSession } from '../support/identities/identity-samples.ts'
import { proof } from '../support/identities/second-factors.ts'
import { clientOf, startService, type Answer, type TestService } from '../support/service.ts'
import { as, newUser, signedIn, type SignedIn } from '../support/identities/sign-in.ts'
import { member } from '../support/identities/users.ts'

const path = '/api/v1/auth/api-keys'
const wanted = { name: 'Shop', environment: 'sandbox', scopes: ['balance.read'] }

interface Key {
  readonly id: string
  readonly key: string
  readonly status: string
  readonly last4: string
  readonly last_used_at: string | null
  readonly livemode: boolean
}

let service: TestService
let owner: SignedIn

t.before(async () => {
  service = await startService(t)
  owner = await ownerSession(service)
})

const balance = (key: string, from: Pick<TestService, 'get'> = service) =>
  from.get('/api/v1/balance', { key })
const codeOf = ({ body }: Answer) => body['code']

async function issue(body: object = {}, by = owner): Promise<Key> {
  const answer = await service.post<Key>(path, { ...wanted, ...body }, as(by))
  if (answer.status !== 201) throw new Error(JSON.stringify(answer.body))
  return answer.body
}

/** A list may be a moment behind. */
async function listed(query: string, isThere: (all: readonly Key[]) => boolean): Promise<readonly Key[]> {
  const { body } = await eventually(
    () => service.get<{ data: readonly Key[] }>(path + query, as(owner)),
    (answer) => isThere(answer.body.data),
  )
  return body.data
}

const roll = (id: string, body: object = {}, by = owner) =>
  service.post<Key>(`${path}/${id}/roll`, body, as(by))

t.test('a key that was issued works with its scopes, and is shown once', async (t) => {
  const { id, key, last4 } = await issue()
  t.match(key, /^ik_test_[\w-]{43,44}$/)
  t.equal(last4, key.slice(-4))
  t.equal((await balance(key)).status, 200)
  t.match(await service.get('/api/v1/payment-intents', { key }), {
    status: 403,
    body: { code: 'IKW-AUTHZ-001' },
  })
  const shown = await service.get(`${path}/${id}`, as(owner))
  t.match(shown.body, { id, object: 'api_key', status: 'active', last4, environment: 'sandbox' })
  t.notOk('key' in shown.body)
  const list = await listed('', (all) => all.some((one) => one.id === id))
  t.notMatch(JSON.stringify(list), key)
  const { pool } = service.service.runtime.postgres
  const kept = await pool.query(`select 1 from events where data::text like $1`, [`%${key}%`])
  t.equal(kept.rowCount, 0, 'the log does not hold it')
})

t.test('the same idempotency key shows the same key', async (t) => {
  const options = { ...as(owner), headers: { 'idempotency-key': randomUUID() } }
  const [first, again] = [
    await service.post(path, wanted, options),
    await service.post(path, wanted, options),
  ]
  t.strictSame(again.body, first.body)
  t.equal(again.headers.get('idempotent-replayed'), 'true')
})

t.test('a key has no scope that is for users only or that is none', async (t) => {
  for (const scopes of [['*'], ['apikeys.write'], ['team.read'], ['nothing.read']]) {
    const answer = await service.post(path, { ...wanted, scopes }, as(owner))
    t.match(answer, { status: 400, body: { param: '/scopes/0' } }, scopes.join())
  }
})

t.test('who may not read keys sees none, and who may not write them makes none', async (t) => {
  const { id } = await issue()
  const stranger = await newUser(service)
  for (const [method, at] of [
    ['GET', `${path}/${id}`],
    ['GET', `${path}/${id}/history`],
    ['DELETE', `${path}/${id}`],
    ['POST', `${path}/${id}/roll`],
  ] as const)
    t.equal((await service.call(method, at, undefined, as(stranger))).status, 404, `${method} ${at}`)
  t.match(await service.get(path, { key: service.sandboxKey }), {
    status: 403,
    body: { code: 'IKW-AUTHZ-003' },
  })
})

t.test('fields of a key that make no sense are named', async (t) => {
  const cases = [
    [{ ipAllowList: ['10.0.0.0/8', 'nowhere'] }, '/ipAllowList/1'],
    ...['10/8', '010.0.0.1', '0x7f.1', '10', 'fe80::1%eth0'].map(
      (block) => [{ ipAllowList: [block] }, '/ipAllowList/0'] as const,
    ),
    [{ expiresAt: '2020-01-01T00:00:00.000Z' }, '/expiresAt'],
    [{ scopes: [] }, '/scopes'],
    [{ environment: 'test' }, '/environment'],
    [{ name: '' }, '/name'],
  ] as const
  for (const [fields, param] of cases)
    t.match(await service.post(path, { ...wanted, ...fields }, as(owner)), { status: 400, body: { param } })
})

t.test('a list of addresses and an end are kept', async (t) => {
  const far = await issue({ ipAllowList: ['10.0.0.0/8'] })
  t.equal(codeOf(await balance(far.key)), 'IKW-AUTHZ-005')
  for (const near of ['::ffff:127.0.0.1', '::ffff:127.0.0.0/104']) {
    const { key } = await issue({ ipAllowList: [near] })
    t.equal((await balance(key)).status, 200, near)
  }
  const short = await issue({ expiresAt: new Date(Date.now() + 1_500).toISOString() })
  t.equal((await balance(short.key)).status, 200)
  await eventually(
    () => balance(short.key),
    (answer) => codeOf(answer) === 'IKW-AUTH-002',
  )
  t.match((await service.get(`${path}/${short.id}`, as(owner))).body, { status: 'expired' })
})

t.test('a live key takes a challenge for it, and a merchant who is live', async (t) => {
  const live = { ...wanted, environment: 'live' }
  t.match(await service.post(path, live, as(owner)), { status: 403, body: { code: 'IKW-AUTHZ-004' } })
  const other = await proof(service, owner, { purpose: 'change_email' })
  const wrong = await service.post(path, { ...live, challengeId: other }, as(owner))
  t.match(wrong, { status: 403, body: { code: 'IKW-AUTHZ-004' } }, 'of another purpose')
  const challengeId = await proof(service, owner, { purpose: 'api_key' })
  const { id, key, livemode } = await issue({ ...live, challengeId })
  t.match(key, /^ik_live_/)
  t.equal(livemode, true)
  t.equal((await balance(key)).status, 200)
  const twice = await service.post(path, { ...live, challengeId }, as(owner))
  t.match(twice, { status: 403, body: { code: 'IKW-AUTHZ-004' } }, 'once')
  t.match(await roll(id), { status: 403, body: { code: 'IKW-AUTHZ-004' } })
  const again = await proof(service, owner, { purpose: 'api_key' })
  const next = await roll(id, { challengeId: again })
  t.match(next, { status: 200, body: { environment: 'live' } })
  t.equal((await balance(next.body.key)).status, 200)
  const isLive = (one: Key) => one.livemode
  await listed('?limit=100', (all) => all.filter(isLive).length >= 2 && !all.every(isLive))
  const only = await listed('?environment=live', (all) => all.length >= 2)
  t.ok(only.every(isLive))
  t.match(await service.call('DELETE', `${path}/${next.body.id}`, undefined, as(owner)), { status: 200 })
  const newcomer = await newUser(service)
  const early = { ...live, challengeId: await proof(service, newcomer, { purpose: 'api_key' }) }
  const refused = await service.post(path, early, as(newcomer))
  t.match(refused, { status: 403, body: { code: 'IKW-MERCHANT-003' } })
})

t.test(
  'a developer may stop a key that can do more, as a leak must be, but never see its successor',
  async (t) => {
    const developer = await member(service, 'developer')
    const body = { merchantId: service.service.credentials.merchant_id }
    const there = await service.post('/api/v1/auth/switch-merchant', body, as(developer))
    const by = signedIn(developer, there as never)
    const strong = await issue({ scopes: ['payouts.write'] })
    t.match(await roll(strong.id, {}, by), { status: 403, body: { code: 'IKW-AUTHZ-001' } })
    t.equal((await service.call('DELETE', `${path}/${strong.id}`, undefined, as(by))).status, 200)
    t.equal(codeOf(await balance(strong.key)), 'IKW-AUTH-002')
  },
)

t.test('a rolled key stops at once, its successor may do the same', async (t) => {
  const old = await issue({ ipAllowList: ['127.0.0.0/8'] })
  const { status, body: next } = await roll(old.id)
  t.equal(status, 200)
  t.match(next, { name: 'Shop', ip_allow_list: ['127.0.0.0/8'], status: 'active' })
  t.equal((await balance(next.key)).status, 200)
  await eventually(
    () => balance(old.key),
    (answer) => codeOf(answer) === 'IKW-AUTH-002',
  )
  t.match((await service.get(`${path}/${old.id}`, as(owner))).body, { status: 'revoked' })
})

t.test('with an overlap both work, until the old one is revoked', async (t) => {
  const old = await issue()
  const { body: next } = await roll(old.id, { overlapSeconds: 3_600 })
  for (const key of [old.key, next.key]) t.equal((await balance(key)).status, 200)
  t.match((await service.get(`${path}/${old.id}`, as(owner))).body, { status: 'active', expires_at: /T/ })
  await service.call('DELETE', `${path}/${old.id}`, undefined, as(owner))
  await eventually(
    () => balance(old.key),
    (answer) => codeOf(answer) === 'IKW-AUTH-002',
  )
  t.equal((await balance(next.key)).status, 200)
})

t.test('a key that ten roll at once has one successor', async (t) => {
  const old = await issue()
  const answers = await Promise.all(Array.from({ length: 10 }, () => roll(old.id)))
  t.strictSame(
    answers.map(({ status }) => status).toSorted(),
    [200, 409, 409, 409, 409, 409, 409, 409, 409, 409],
  )
  const won = answers.find(({ status }) => status === 200)!
  t.equal((await balance(won.body.key)).status, 200)
  const { pool } = service.service.runtime.postgres
  const text = `select count(*)::int as count from events where type = 'ApiKeyIssued' and position > $1`
  const rolled = `select position from events where type = 'ApiKeyRolled' order by position desc limit 1`
  const { rows } = await pool.query<{ position: number }>(rolled)
  t.strictSame((await pool.query(text, [rows[0]!.position])).rows, [{ count: 1 }])
})

t.test('who lacks a right of a key cannot roll it, for it would show a key that has it', async (t) => {
  const { id } = await issue({ scopes: ['payouts.write'] })
  const first = await service.get<{ data: readonly Key[] }>(`${path}?limit=100`, as(owner))
  const everything = first.body.data.at(-1)!
  const developer = await member(service, 'developer')
  const token = await switched(developer)
  for (const target of [id, everything.id])
    t.match(await service.post(`${path}/${target}/roll`, {}, { key: token }), {
      status: 403,
      body: { code: 'IKW-AUTHZ-001' },
    })
  const own = { ...wanted, scopes: ['payouts.write'] }
  t.match(await service.post(path, own, { key: token }), { status: 403, body: { code: 'IKW-AUTHZ-001' } })
  t.match(await service.post(path, wanted, { key: token }), { status: 201 })
  t.match(await roll(everything.id), { status: 200, body: { scopes: ['*'] } }, 'the owner has them all')
})

t.test('an idempotency key of one user shows another user of the merchant nothing', async (t) => {
  const developer = await member(service, 'developer')
  const token = await switched(developer)
  const headers = { 'idempotency-key': randomUUID() }
  const body = { ...wanted, scopes: ['payouts.write'] }
  const first = await service.post<Key>(path, body, { ...as(owner), headers })
  t.equal(first.status, 201)
  const guessed = await service.post(path, body, { key: token, headers })
  t.match(guessed, { status: 403, body: { code: 'IKW-AUTHZ-001' } })
})

t.test('a revoked key stops at every process, and is revoked once', async (t) => {
  const copy = await openRuntime(service.service.runtime.configuration)
  const api = await startApi({ runtime: copy })
  t.teardown(async () => {
    await api.close()
    await copy.close()
  })
  const second = clientOf({ port: api.port, credentials: service.service.credentials })
  const { id, key } = await issue()
  for (const one of [service, second]) t.equal((await balance(key, one)).status, 200)
  const remove = () => service.call('DELETE', `${path}/${id}`, undefined, as(owner))
  t.match(await remove(), { status: 200, body: { id, deleted: true } })
  for (const one of [service, second])
    await eventually(
      () => balance(key, one),
      (answer) => codeOf(answer) === 'IKW-AUTH-002',
    )
  t.equal((await remove()).status, 404)
})

t.test('the last use of a key is known to the day, and noted once', async (t) => {
  const { id, key } = await issue()
  const { dependencies } = service.service.runtime
  const { store, executor, clock } = dependencies
  const uses = new KeyUses(dependencies, 5)
  const keys = new ApiKeys({ store, executor, clock, head: await store.head(), uses })
  t.teardown(() => keys.close())
  const presented = { authorization: `Bearer ${key}`, address: '127.0.0.1', environment: undefined }
  for (const _ of [1, 2, 3]) await keys.authenticate(presented)
  const shown = await eventually(
    () => service.get<Key>(`${path}/${id}`, as(owner)),
    ({ body }) => body.last_used_at !== null,
  )
  t.match(shown.body.last_used_at, /^\d{4}-\d\d-\d\dT/)
  await keys.authenticate(presented)
  const history = await service.get<{ data: readonly { type: string }[] }>(`${path}/${id}/history`, as(owner))
  t.strictSame(
    history.body.data.map(({ type }) => type),
    ['ApiKeyIssued', 'ApiKeyUsed'],
  )
})

/** The access token of somebody who works for the first merchant from now on. */
async function switched(person: SignedIn): Promise<string> {
  const body = { merchantId: owner.merchant }
  const answer = await service.post('/api/v1/auth/switch-merchant', body, as(person))
  return String(answer.body['access_token'])
}
