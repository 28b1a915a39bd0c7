import { randomUUID } from 'node:crypto'
import t from 'tap'
import { organization } from '../../packages/domain/organizations/organization.ts'
import { eventually } from '../support/eventually.ts'
import { startService, type Answer, type TestService } from '../support/service.ts'
import { as, newUser, signIn, signedIn, type SignedIn } from '../support/identities/sign-in.ts'

const path = '/api/v1/organizations'
const unit = { displayName: 'Boutique Awa', country: 'CI', type: 'company' }

interface Organization {
  readonly id: string
  readonly merchant_id: string
  readonly current: boolean
}

interface List<Item> {
  readonly data: readonly Item[]
  readonly has_more: boolean
  readonly next_cursor: string | null
}

let service: TestService

t.before(async () => {
  service = await startService(t)
})

async function create(by: SignedIn, body: object = {}): Promise<Organization> {
  const answer = await service.post<Organization>(path, { ...unit, ...body }, as(by))
  if (answer.status !== 201) throw new Error(JSON.stringify(answer.body))
  return answer.body
}

/** The same user, with tokens for what was switched to. */
function after(answer: Answer, person: SignedIn): SignedIn {
  return signedIn(person, answer as never)
}

const switchTo = (by: SignedIn, body: object) => service.post(`${path}/switch`, body, as(by))

t.test('who creates an organization owns its merchant and can work for it at once', async (t) => {
  const awa = await newUser(service)
  const made = await create(awa, { displayName: 'Boutique Bouaké', country: 'CM' })
  t.match(made, { object: 'organization', type: 'company', parent_id: null, role: 'owner', current: false })
  const answer = await switchTo(awa, { organizationId: made.id })
  t.match(answer, { status: 200, body: { organization: { id: made.id }, role: 'owner' } })
  const there = after(answer, awa)
  t.equal(there.merchant, made.merchant_id)
  t.equal(there.session, awa.session, 'it is the same session')
  t.match(await service.get(`${path}/current`, as(there)), {
    status: 200,
    body: { id: made.id, current: true },
  })
  const created = await service.post(
    '/api/v1/payment-intents',
    { amount: 500, currency: 'XAF', transaction_country: 'CM' },
    as(there),
  )
  t.equal(created.status, 201)
})

t.test('an access token of before the switch stops working, and the refresh token goes on', async (t) => {
  const awa = await newUser(service)
  const made = await create(awa)
  await switchTo(awa, { organizationId: made.id })
  t.equal((await service.get('/api/v1/auth/me', as(awa))).status, 401)
  const refreshed = await service.post(
    '/api/v1/auth/refresh',
    { refreshToken: awa.refreshToken },
    { key: '' },
  )
  t.match(refreshed, { status: 200, body: { merchant: { id: made.merchant_id } } })
})

t.test('a choice that persists holds after signing in, another one does not', async (t) => {
  const awa = await newUser(service)
  const [once, always] = [await create(awa), await create(awa)]
  await switchTo(awa, { organizationId: once.id })
  const again = await signIn(service, awa)
  t.equal(again.merchant, awa.merchant)
  await switchTo(again, { organizationId: always.id, persist: true })
  t.equal((await signIn(service, awa)).merchant, always.merchant_id)
})

t.test('a merchant is switched to as its organization is', async (t) => {
  const awa = await newUser(service)
  const made = await create(awa)
  const body = { merchantId: made.merchant_id }
  const answer = await service.post('/api/v1/auth/switch-merchant', body, as(awa))
  t.match(answer, { status: 200, body: { organization: { id: made.id } } })
})

t.test(
  'merchants and organizations of a user are listed, the newest first, with the current one',
  async (t) => {
    const awa = await newUser(service)
    const made = [await create(awa), await create(awa), await create(awa)]
    const merchants = await service.get<List<{ merchant_id: string; current: boolean }>>(
      '/api/v1/auth/merchants',
      as(awa),
    )
    t.strictSame(
      merchants.body.data.map(({ merchant_id, current }) => [merchant_id, current]),
      [...made.map(({ merchant_id }) => [merchant_id, false]).toReversed(), [awa.merchant, true]],
    )
    const page = (query: string) => service.get<List<Organization>>(`${path}/mine?${query}`, as(awa))
    const first = await page('limit=3')
    t.strictSame(
      first.body.data.map(({ id }) => id),
      made.map(({ id }) => id).toReversed(),
    )
    t.equal(first.body.has_more, true)
    const rest = await page(`limit=3&cursor=${first.body.next_cursor}`)
    t.match(rest.body, { data: [{ merchant_id: awa.merchant, current: true }], has_more: false })
    const stranger = await newUser(service)
    const stolen = await service.get(`${path}/mine?cursor=${first.body.next_cursor}`, as(stranger))
    t.match(stolen, { status: 400, body: { param: 'query:/cursor' } })
  },
)

t.test('organizations and merchants of others are not there', async (t) => {
  const [awa, stranger] = [await newUser(service), await newUser(service)]
  const made = await create(awa)
  for (const id of [made.id, randomUUID()]) {
    const answers = [
      await service.get(`${path}/${id}`, as(stranger)),
      await switchTo(stranger, { organizationId: id }),
      await switchTo(stranger, { organizationId: id, persist: true }),
      await service.post(path, { ...unit, type: 'branch', parentId: id }, as(stranger)),
    ]
    for (const answer of answers) t.match(answer, { status: 404, body: { code: 'IKW-ORG-001' } })
  }
  for (const merchantId of [made.merchant_id, randomUUID()])
    t.match(await service.post('/api/v1/auth/switch-merchant', { merchantId }, as(stranger)), {
      status: 404,
      body: { code: 'IKW-MERCHANT-001' },
    })
  t.equal((await signIn(service, stranger)).merchant, stranger.merchant, 'nothing was chosen')
})

t.test('a part names its parent, and only a part does', async (t) => {
  const awa = await newUser(service)
  const parent = await create(awa)
  const branch = await create(awa, { type: 'branch', parentId: parent.id })
  t.match(branch, { type: 'branch', parent_id: parent.id })
  for (const body of [{ type: 'branch' }, { type: 'company', parentId: parent.id }])
    t.match(await service.post(path, { ...unit, ...body }, as(awa)), {
      status: 400,
      body: { code: 'IKW-ORG-002' },
    })
})

t.test('the same organization ten times at once under one key is one', async (t) => {
  const awa = await newUser(service)
  const options = { ...as(awa), headers: { 'idempotency-key': randomUUID() } }
  await Promise.all(Array.from({ length: 10 }, () => service.post(path, unit, options)))
  const all = await eventually(
    () => service.get<List<Organization>>(`${path}/mine`, as(awa)),
    ({ body }) => body.data.length > 1,
  )
  t.equal(all.body.data.length, 2)
})

t.test(
  'an organization whose request ended before its merchant was there gets it all the same',
  async (t) => {
    const awa = await newUser(service)
    const { executor } = service.service.runtime.dependencies
    const [id, merchant] = [randomUUID(), randomUUID()]
    const founder = { user: awa.id, email: awa.email, currency: 'XOF' }
    const data = {
      displayName: 'Boutique',
      country: 'CI',
      type: 'company',
      parent: null,
      merchant,
      founder,
    } as const
    const envelope = { organization: id, actor: `user:${awa.id}`, correlation: id }
    await executor.send(organization, id, { type: 'CreateOrganization', data }, envelope)
    const answer = await eventually(
      () => switchTo(awa, { organizationId: id }),
      ({ status }) => status === 200,
    )
    t.match(answer.body, { merchant: { id: merchant, name: 'Boutique' }, role: 'owner' })
  },
)
