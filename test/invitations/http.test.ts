import { randomUUID } from 'node:crypto'
import t from 'tap'
import { invitation as invitations, invitationName } from '../../packages/domain/invitations/invitation.ts'
import { merchant } from '../../packages/domain/merchants/merchant.ts'
import { user as users } from '../../packages/domain/users/user.ts'
import { eventually } from '../support/eventually.ts'
import { invitationToken } from '../support/identities/identity-samples.ts'
import { mailedToken, mailsTo } from '../support/identities/mails.ts'
import { withTotp } from '../support/identities/second-factors.ts'
import { startService, type TestService } from '../support/service.ts'
import { as, goodPassword, newUser, signIn, signedIn, type SignedIn } from '../support/identities/sign-in.ts'

const team = '/api/v1/merchant/team'
const open = { key: '' }

interface Member {
  readonly id: string
  readonly email: string
  readonly role: string
  readonly status: string
}

interface Team {
  readonly data: readonly Member[]
  readonly has_more: boolean
  readonly total_count: number
}

let service: TestService
let owner: SignedIn

t.before(async () => {
  service = await startService(t)
  owner = await confirmed()
})

const address = () => `${randomUUID()}@example.com`
const balance = (by: SignedIn) => service.get('/api/v1/balance', as(by))
const members = async (by = owner, query = '') => (await service.get<Team>(`${team}${query}`, as(by))).body

async function invite(body: object, by = owner): Promise<string> {
  const answer = await service.post(`${team}/invite`, { role: 'developer', ...body }, as(by))
  if (answer.status !== 201) throw new Error(JSON.stringify(answer.body))
  return String(answer.body['id'])
}

const accept = (body: object) => service.post('/api/v1/invitations/accept', body, open)

/** Somebody new who works for the owner's merchant. */
async function joined(role: string): Promise<SignedIn> {
  const email = address()
  const token = await invitationToken(service, await invite({ email, role }))
  const answer = await accept({ token, password: goodPassword, name: 'Ibra Diop' })
  return signedIn({ email, password: goodPassword }, answer as never)
}

const invitedBy = (email: string) => mailedToken(service.service, email, 'invitation')

t.test('who is invited by mail joins with a password and a name, and works at once', async (t) => {
  const email = address()
  const id = await invite({ email, role: 'support', name: 'Fatou Ba' })
  const invited = await eventually(
    () => members(),
    ({ data }) => data.some((one) => one.id === id),
  )
  t.match(invited, { data: [{ id, email, role: 'support', status: 'invited', user_id: null }, {}] })
  const token = await invitedBy(email)
  t.match(await accept({ token, name: 'Fatou' }), { status: 400, body: { param: '/password' } })
  t.match(await accept({ token, password: 'password1' }), { status: 400, body: { param: '/password' } })
  const answer = await accept({ token, password: goodPassword })
  t.match(answer, { status: 200, body: { object: 'auth_session', role: 'support' } })
  const fatou = signedIn({ email, password: goodPassword }, answer as never)
  t.equal(fatou.merchant, owner.merchant)
  t.equal((await balance(fatou)).status, 200)
  const me = await service.get('/api/v1/auth/me', as(fatou))
  t.match(me.body, { email, email_verified: true, name: 'Fatou Ba', merchant: { id: owner.merchant } })
  t.match(await members(), { data: [{ email, role: 'support', status: 'active', name: 'Fatou Ba' }, {}] })
  t.match(await accept({ token, password: goodPassword }), { status: 401, body: { code: 'IKW-AUTH-005' } })
  t.equal((await signIn(service, fatou)).merchant, owner.merchant)
})

t.test('a name stays on its line, and no mail makes a link of it', async (t) => {
  const refused = await service.post(
    `${team}/invite`,
    { email: address(), role: 'support', name: 'Awa\r\nYour account is locked' },
    as(owner),
  )
  t.match(refused, { status: 400, body: { param: '/name', detail: 'name must be text on one line' } })
  const email = address()
  await invite({ email, name: 'See https://evil.example/now' })
  await invitedBy(email)
  const mail = mailsTo(service.service, email).at(-1)!
  t.notMatch(mail, /evil\.example|https:\/\/evil/)
  t.match(mail, /Bonjour See https:\u2060\/\/evil\.\u2060example\/now/)
})

t.test('who has an account joins with it, and keeps the merchant that they had', async (t) => {
  const ibra = await confirmed()
  const token = await invitationToken(service, await invite({ email: ibra.email }))
  const answer = await accept({ token })
  t.match(answer, { status: 200, body: { user: { id: ibra.id }, merchant: { id: owner.merchant } } })
  t.equal((await signIn(service, ibra)).merchant, ibra.merchant)
  t.equal((await balance(ibra)).status, 200, 'the other session goes on')
  const again = { email: ibra.email, role: 'admin' }
  const twice = await service.post(`${team}/invite`, again, as(owner))
  t.match(twice, { status: 409, body: { code: 'IKW-RES-004' } })
})

t.test('an account that somebody registered with another’s address goes to who opens the mail', async (t) => {
  const squatter = await newUser(service)
  await withTotp(service, squatter)
  const token = await invitationToken(service, await invite({ email: squatter.email }))
  t.match(await accept({ token }), { status: 400, body: { param: '/password' } })
  const password = 'encore quatre mots au hasard'
  t.match(await accept({ token, password }), { status: 200, body: { merchant: { id: owner.merchant } } })
  t.equal((await balance(squatter)).status, 401, 'who had registered is signed out')
  const { email } = squatter
  t.equal((await service.post('/api/v1/auth/login', { email, password: goodPassword }, open)).status, 401)
  t.equal((await signIn(service, { email, password })).id, squatter.id)
})

t.test('a second factor is asked for after the mail too', async (t) => {
  const ibra = await confirmed()
  const { codes } = await withTotp(service, ibra)
  const token = await invitationToken(service, await invite({ email: ibra.email }))
  const answer = await accept({ token })
  t.match(answer, { status: 200, body: { object: 'challenge', mfa_required: true } })
  const proof = { challengeId: answer.body['id'], code: codes[0] }
  t.match(await service.post('/api/v1/auth/mfa/verify', proof, open), { status: 200 })
})

t.test('an invitation is good once, until it is revoked, and only the newest', async (t) => {
  const email = address()
  const body = { password: goodPassword, name: 'Ibra' }
  const id = await invite({ email })
  const first = await invitationToken(service, id)
  t.equal(await invite({ email: email.toUpperCase(), role: 'admin' }), id, 'another mail, with another role')
  t.match(await accept({ token: first, ...body }), { status: 401, body: { code: 'IKW-AUTH-005' } })
  const [shown] = (await members()).data.filter((one) => one.id === id)
  t.match(shown, { status: 'invited', role: 'admin' })
  t.match(await service.call('DELETE', `${team}/${id}`, undefined, as(owner)), { status: 200 })
  t.equal((await service.call('DELETE', `${team}/${id}`, undefined, as(owner))).status, 404)
  const second = await invitationToken(service, id)
  t.match(await accept({ token: second, ...body }), { status: 410, body: { code: 'IKW-MERCHANT-004' } })
  t.equal(await invite({ email }), id, 'the same address has the same invitation')
  t.match(await accept({ token: second, ...body }), { status: 401, body: { code: 'IKW-AUTH-005' } })
  t.match(await accept({ token: 'nonsense', ...body }), { status: 401 })
  const token = await invitationToken(service, id)
  const answers = await Promise.all(Array.from({ length: 10 }, () => accept({ token, ...body })))
  t.equal(answers.filter(({ status }) => status === 200).length, 1)
  t.ok(answers.every(({ status }) => [200, 401, 409].includes(status)))
  const found = (await members()).data.filter((one) => one.email === email)
  t.match(found, [{ status: 'active' }])
  const { body: end } = await service.get(`${team}/invitations/${id}`, as(owner))
  t.match(end, { object: 'invitation', status: 'accepted' })
})

t.test('what ends between two steps of joining is gone on with', async (t) => {
  const { executor } = service.service.runtime.dependencies
  const ibra = await confirmed()
  const id = await invite({ email: ibra.email })
  const state = await service.service.runtime.dependencies.store.readStream(`invitation-${id}`, 0)
  const { link } = state[0]!.data as { link: string }
  const envelope = { merchant: owner.merchant, livemode: false, actor: 'test', correlation: id }
  const command = { type: 'AcceptInvitation', data: { link, user: ibra.id } } as const
  await executor.send(invitations, id, command, envelope)
  await eventually(members, ({ data }) => data.some(({ email }) => email === ibra.email))
  t.pass('the policy has admitted them')
})

t.test('who is removed is signed out of this merchant at once, and of no other', async (t) => {
  const ibra = await confirmed()
  const token = await invitationToken(service, await invite({ email: ibra.email }))
  const there = signedIn(ibra, (await accept({ token })) as never)
  t.equal((await balance(there)).status, 200)
  const removal = await service.call('DELETE', `${team}/${ibra.id}`, undefined, as(owner))
  t.match(removal, { status: 200, body: { id: ibra.id, deleted: true } })
  t.equal((await service.get('/api/v1/auth/me', as(there))).status, 401)
  const refresh = { refreshToken: there.refreshToken }
  t.equal((await service.post('/api/v1/auth/refresh', refresh, open)).status, 401)
  t.equal((await balance(ibra)).status, 200, 'for their own merchant they work on')
  t.equal((await service.call('DELETE', `${team}/${ibra.id}`, undefined, as(owner))).status, 404)
  const back = { merchantId: owner.merchant }
  t.equal((await service.post('/api/v1/auth/switch-merchant', back, as(ibra))).status, 404)
})

t.test('who is removed stays so when the policy that admits comes late', async (t) => {
  const awa = await joined('support')
  const id = (await members()).data.find(({ email }) => email === awa.email)!.id
  const { store, executor } = service.service.runtime.dependencies
  const invitation = await service.service.runtime.dependencies.blindIndex(
    invitationName(owner.merchant, awa.email),
  )
  const events = await store.readStream(`invitation-${invitation}`, 0)
  const data = events.find(({ type }) => type === 'InvitationAccepted')!.data as never
  t.equal((await service.call('DELETE', `${team}/${id}`, undefined, as(owner))).status, 200)
  const envelope = { merchant: owner.merchant, livemode: false, actor: 'test', correlation: id }
  await executor.send(merchant, owner.merchant, { type: 'AdmitMember', data }, envelope)
  t.notOk((await members()).data.some(({ email }) => email === awa.email))
})

t.test('who is removed from the only merchant signs in, and works for none', async (t) => {
  const ibra = await joined('analyst')
  await service.call('DELETE', `${team}/${ibra.id}`, undefined, as(owner))
  const again = await signIn(service, ibra)
  t.equal(again.merchant, '')
  t.match(await balance(again), { status: 403, body: { code: 'IKW-MERCHANT-002' } })
  const key = as(again)
  const { body: me } = await service.get('/api/v1/auth/me', key)
  t.strictSame([me['role'], me['scopes']], [null, ['organizations.write']])
  const unit = { displayName: 'Ibra et fils', country: 'CI', type: 'company' }
  const made = await service.post<{ id: string }>('/api/v1/organizations', unit, key)
  t.match(made, { status: 201, body: { role: 'owner' } }, 'but may begin with a merchant of their own')
  const there = await service.post('/api/v1/organizations/switch', { organizationId: made.body.id }, key)
  t.equal((await balance(signedIn(ibra, there as never))).status, 200)
  t.match(
    await members(await signIn(service, ibra)),
    { total_count: 1 },
    'and nothing else of who they worked for',
  )
})

t.test('nobody invites whose own address no mail has reached', async (t) => {
  const awa = await newUser(service)
  const asking = () => service.post(`${team}/invite`, { email: address(), role: 'admin' }, as(awa))
  const refused = await asking()
  t.match(refused, { status: 409, body: { code: 'IKW-RES-002', retryable: false } })
  await confirm(awa)
  t.equal((await asking()).status, 201)
})

t.test('the last owner stays, an admin removes no owner, and others remove nobody', async (t) => {
  const [admin, developer] = [await joined('admin'), await joined('developer')]
  const remove = (id: string, by: SignedIn) => service.call('DELETE', `${team}/${id}`, undefined, as(by))
  t.match(await remove(owner.id, owner), { status: 409, body: { code: 'IKW-MERCHANT-005' } })
  t.match(await remove(owner.id, admin), { status: 403, body: { code: 'IKW-AUTHZ-003' } })
  t.match(await remove(admin.id, developer), { status: 403, body: { code: 'IKW-AUTHZ-001' } })
  const asked = { email: address(), role: 'owner' }
  t.match(await service.post(`${team}/invite`, asked, as(owner)), { status: 400, body: { param: '/role' } })
  const second = await joined('admin')
  await promote(second, 'owner')
  t.match(await remove(second.id, owner), { status: 200 }, 'an owner removes another one')
  t.match(await remove(developer.id, admin), { status: 200 })
})

t.test('two owners who remove each other at once leave one', async (t) => {
  const awa = await confirmed()
  const email = address()
  const token = await invitationToken(service, await invite({ email, role: 'admin' }, awa))
  const answer = await accept({ token, password: goodPassword, name: 'Ibra' })
  const ibra = signedIn({ email, password: goodPassword }, answer as never)
  await promote(ibra, 'owner', awa.merchant)
  const answers = await Promise.all([
    service.call('DELETE', `${team}/${ibra.id}`, undefined, as(awa)),
    service.call('DELETE', `${team}/${awa.id}`, undefined, as(ibra)),
  ])
  t.equal(answers.filter(({ status }) => status === 200).length, 1)
})

t.test('another merchant sees and removes nobody', async (t) => {
  const stranger = await newUser(service)
  const id = await invite({ email: address() })
  for (const target of [id, owner.id])
    t.equal((await service.call('DELETE', `${team}/${target}`, undefined, as(stranger))).status, 404)
  t.equal((await service.get(`${team}/invitations/${id}`, as(stranger))).status, 404)
  t.equal((await members(stranger)).total_count, 1)
})

t.test('the team is read page by page', async (t) => {
  const all = await members(owner, '?limit=100')
  t.ok(all.total_count > 3)
  const pages = [await members(owner, '?limit=2'), await members(owner, '?limit=2&page=2')]
  t.strictSame(
    pages.flatMap(({ data }) => data),
    all.data.slice(0, 4),
  )
  t.equal(pages[0]!.has_more, true)
})

/** Somebody with an account whose address is confirmed. */
async function confirmed(): Promise<SignedIn> {
  const person = await newUser(service)
  await confirm(person)
  return person
}

async function confirm({ id }: SignedIn): Promise<void> {
  const { executor } = service.service.runtime.dependencies
  const envelope = { user: id, actor: 'test', correlation: 'test' }
  await executor.send(users, id, { type: 'ConfirmEmail', data: {} }, envelope)
}

async function promote({ id }: SignedIn, role: 'owner', to = owner.merchant): Promise<void> {
  const envelope = { merchant: to, livemode: false, actor: 'test', correlation: 'test' }
  const command = { type: 'AddMember', data: { user: id, role } } as const
  await service.service.runtime.dependencies.executor.send(merchant, to, command, envelope)
}
