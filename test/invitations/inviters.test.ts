import { randomUUID } from 'node:crypto'
import t from 'tap'
import { invitation, invitationName } from '../../packages/domain/invitations/invitation.ts'
import { merchant } from '../../packages/domain/merchants/merchant.ts'
import { user as users } from '../../packages/domain/users/user.ts'
import { eventually } from '../support/eventually.ts'
import { invitationToken, ownerSession } from '../support/identities/identity-samples.ts'
import { mailsTo } from '../support/identities/mails.ts'
import { as, goodPassword, signIn, type SignedIn } from '../support/identities/sign-in.ts'
import { member } from '../support/identities/users.ts'
import { startService, type TestService } from '../support/service.ts'

const team = '/api/v1/merchant/team'

let service: TestService
let owner: SignedIn

t.before(async () => {
  service = await startService(t)
  owner = await ownerSession(service)
})

const address = () => `${randomUUID()}@example.com`
const accept = (token: string) =>
  service.post('/api/v1/invitations/accept', { token, password: goodPassword, name: 'Ibra' }, { key: '' })

/** The session of somebody who works for the first merchant. */
async function there(person: SignedIn): Promise<SignedIn> {
  const session = await signIn(service, person)
  const wanted = { merchantId: service.service.credentials.merchant_id }
  const { body } = await service.post('/api/v1/auth/switch-merchant', wanted, as(session))
  return { ...session, token: String(body['access_token']) }
}

/** Who works for the first merchant, and has a mailbox. */
async function admin(): Promise<SignedIn> {
  const person = await member(service, 'admin')
  const { executor } = service.service.runtime.dependencies
  const envelope = { user: person.id, actor: 'test', correlation: 'test' }
  await executor.send(users, person.id, { type: 'ConfirmEmail', data: {} }, envelope)
  return there(person)
}

async function invite(email: string, by: SignedIn): Promise<string> {
  const answer = await service.post(`${team}/invite`, { email, role: 'admin' }, as(by))
  if (answer.status !== 201) throw new Error(JSON.stringify(answer.body))
  return String(answer.body['id'])
}

async function become(role: 'admin' | 'support', { id }: SignedIn): Promise<void> {
  const { runtime, credentials } = service.service
  const envelope = { merchant: credentials.merchant_id, livemode: false, actor: 'test', correlation: 'test' }
  const command = { type: 'AddMember', data: { user: id, role } } as const
  await runtime.dependencies.executor.send(merchant, credentials.merchant_id, command, envelope)
}

const demote = (person: SignedIn) => become('support', person)
const remove = async ({ id }: SignedIn) => {
  t.equal((await service.call('DELETE', `${team}/${id}`, undefined, as(owner))).status, 200)
}

for (const [name, lose] of Object.entries({ 'is removed': remove, 'may no longer invite': demote })) {
  t.test(`an invitation ends when who sent it ${name}`, async (t) => {
    const [inviter, email] = [await admin(), address()]
    const id = await invite(email, inviter)
    const token = await invitationToken(service, id)
    const shown = async () => (await service.get(`${team}/invitations/${id}`, as(owner))).body
    const listed = async () => (await service.get<{ data: readonly object[] }>(team, as(owner))).body.data
    await eventually(listed, (all) => all.some((one) => 'id' in one && one.id === id))
    t.match(await shown(), { status: 'pending' })
    await eventually(
      () => service.service.runtime.dependencies.executor.current(invitation, id),
      ({ state }) => state.status === 'pending' && state.isMailed,
    )
    await lose(inviter)
    const refused = { status: 410, body: { code: 'IKW-MERCHANT-004', detail: /may no longer invite/ } }
    t.match(await accept(token), refused)
    t.match(await shown(), { status: 'revoked' })
    await become('admin', inviter)
    t.match(await accept(token), refused, 'what has ended never opens again')
    t.match(await shown(), { status: 'revoked' })
    t.notMatch(await listed(), [{ email }], 'neither invited nor a member')
    t.equal(await invite(email, await there(inviter)), id, 'they invite them again')
    t.match(await shown(), { status: 'pending' })
    t.equal(await invite(email, owner), id, 'and so does somebody else')
    t.match(await accept(await invitationToken(service, id)), { status: 200, body: { role: 'admin' } })
  })
}

t.test('those of who has gone hide none that is open, however many they are', async (t) => {
  const { runtime, credentials } = service.service
  const { executor, blindIndex } = runtime.dependencies
  const envelope = { merchant: credentials.merchant_id, livemode: false, actor: 'test', correlation: 'test' }
  const sent = { name: null, role: 'admin', language: 'en', by: randomUUID(), isLimited: false } as const
  const emails = Array.from({ length: 101 }, address)
  for (const email of emails) {
    const [id, link] = [await blindIndex(invitationName(credentials.merchant_id, email)), randomUUID()]
    const commands = [
      { type: 'Invite', data: { ...sent, link, email } },
      { type: 'NoteInvitationMailed', data: { link } },
    ].map((command) => ({ command, envelope }))
    await executor.sendAll(invitation, id, commands)
  }
  // The oldest one is sent again, and is in its place.
  const [email] = emails as [string]
  await invite(email, owner)
  const { body } = await service.get<{ data: readonly object[] }>(`${team}?limit=100`, as(owner))
  t.match(
    body.data.filter((one) => 'status' in one && one.status === 'invited'),
    [{ email }],
  )
})

t.test('what was not mailed yet when who sent it had gone is revoked, and mailed to nobody', async (t) => {
  const { runtime, credentials } = service.service
  const { executor, blindIndex } = runtime.dependencies
  const envelope = { merchant: credentials.merchant_id, livemode: false, actor: 'test', correlation: 'test' }
  const sent = { name: null, role: 'admin', language: 'en', by: randomUUID(), isLimited: false } as const
  const email = address()
  const id = await blindIndex(invitationName(credentials.merchant_id, email))
  const command = { type: 'Invite', data: { ...sent, link: randomUUID(), email } } as const
  await executor.send(invitation, id, command, envelope)
  await eventually(
    () => executor.current(invitation, id),
    ({ state }) => state.status === 'revoked',
  )
  t.strictSame(mailsTo(service.service, email), [])
})
