import t, { type Test } from 'tap'
import { eventually } from '../support/eventually.ts'
import { holdAppends, type Fate } from '../support/event-store/held-appends.ts'
import { invitationToken } from '../support/identities/identity-samples.ts'
import { lawOver } from '../support/law.ts'
import type { MerchantClient } from '../support/service.ts'
import { newUser, signIn, type SignedIn } from '../support/identities/sign-in.ts'
import { startTwoApis } from '../support/processes/two-apis.ts'

const auth = '/api/v1/auth'
const other = 'encore quatre mots au hasard'
const { runtime, credentials, apis, ports, clients, start } = await startTwoApis(t)
const [one, second] = clients
const { pool } = runtime.postgres
const { owner_email: email, owner_password: password } = credentials
const owner = await signIn(second, { email, password })
const as = (key: string) => ({ key })

/** What is ended at the process that is killed. */
interface Ending {
  /** Event at whose append it dies. */
  readonly at: string
  /** Whether something else has been written by then, so that it comes to its end by itself. */
  readonly isBegun: boolean
  /** Asks the process to end it. */
  readonly end: (client: MerchantClient) => Promise<object>
  /** What must not work afterwards, and what must go on. */
  readonly over: Ask
  readonly goesOn: Ask
}

type Ask = (client: MerchantClient) => Promise<{ readonly status: number }>

const me =
  ({ token }: Pick<SignedIn, 'token'>): Ask =>
  (client) =>
    client.get(`${auth}/me`, as(token))

async function othersEnd(): Promise<Ending> {
  const user = await newUser(one)
  const end = (client: MerchantClient) => client.call('DELETE', `${auth}/sessions`, undefined, as(user.token))
  const over = me(await signIn(second, user))
  return { at: 'SessionsEnded', isBegun: false, end, over, goesOn: me(user) }
}

const passwordChanges = (at: string) => async (): Promise<Ending> => {
  const user = await newUser(one)
  const body = { currentPassword: user.password, newPassword: other }
  const end = (client: MerchantClient) => client.post(`${auth}/change-password`, body, as(user.token))
  const over = me(await signIn(second, user))
  return { at, isBegun: at !== 'UserPasswordChanged', end, over, goesOn: me(user) }
}

const memberGoes = (at: string) => async (): Promise<Ending> => {
  const body = { email: `member.${Date.now()}@example.com`, role: 'developer' }
  const invited = await second.post('/api/v1/merchant/team/invite', body, as(owner.token))
  const token = await invitationToken({ service: { runtime } }, String(invited.body['id']))
  const accepted = await second.post<{ access_token: string; user: { id: string } }>(
    '/api/v1/invitations/accept',
    { token, password: other, name: 'Ibra Diop' },
    as(''),
  )
  const { access_token: key, user } = accepted.body
  const path = `/api/v1/merchant/team/${user.id}`
  const end = (client: MerchantClient) => client.call('DELETE', path, undefined, as(owner.token))
  const over: Ask = (client) => client.get('/api/v1/balance', as(key))
  return { at, isBegun: at !== 'MerchantMemberRemoved', end, over, goesOn: me(owner) }
}

async function keyGoes(): Promise<Ending> {
  const issue = () => {
    const body = { name: 'Shop', environment: 'sandbox', scopes: ['balance.read'] }
    return second.post<{ id: string; key: string }>(`${auth}/api-keys`, body, as(owner.token))
  }
  const [gone, kept] = [(await issue()).body, (await issue()).body]
  const path = `${auth}/api-keys/${gone.id}`
  const end = (client: MerchantClient) => client.call('DELETE', path, undefined, as(owner.token))
  const balance = (key: string) => (client: MerchantClient) => client.get('/api/v1/balance', as(key))
  return { at: 'ApiKeyRevoked', isBegun: false, end, over: balance(gone.key), goesOn: balance(kept.key) }
}

const endings: Readonly<Record<string, () => Promise<Ending>>> = {
  'all other sessions are ended': othersEnd,
  'a password is changed': passwordChanges('UserPasswordChanged'),
  'a password was changed, and its sessions are ended': passwordChanges('SessionsEnded'),
  'a member is removed': memberGoes('MerchantMemberRemoved'),
  'a member was removed, and their sessions are ended': memberGoes('SessionsOfMerchantEnded'),
  'a key is revoked': keyGoes,
}

async function answers(t: Test, ask: Ask, [status, what]: readonly [number, string]): Promise<void> {
  await lawOver(t, clients, async (client) => {
    const answer = await eventually(
      () => ask(client),
      (last) => last.status === status,
    )
    t.equal(answer.status, status, what)
  })
}

async function killedWhile(t: Test, { at, isBegun, end, over, goesOn }: Ending, fate: Fate): Promise<void> {
  await answers(t, over, [200, 'known to both'])
  const held = await holdAppends(pool, at)
  const asked = end(one).catch(() => undefined)
  await held.untilOneWaits()
  await apis[0].end('SIGKILL')
  await held.release(fate)
  t.equal(await asked, undefined, 'nobody was told')
  apis[0] = start('api', ports[0])
  await apis[0].port()
  const isOver = fate !== 'is lost' || isBegun
  await answers(t, over, isOver ? [401, 'it is over'] : [200, 'nothing has happened'])
  if (!isOver) t.match(await end(second), { status: 200 })
  await answers(t, over, [401, 'it is over, however often it is asked for'])
  await answers(t, goesOn, [200, 'and nothing else'])
}

for (const [what, prepared] of Object.entries(endings))
  for (const fate of ['is lost', 'is written all the same'] as const)
    t.test(`a process is killed while ${what}, which ${fate}`, async (t) => {
      await killedWhile(t, await prepared(), fate)
    })
