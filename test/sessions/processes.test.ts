import { randomUUID } from 'node:crypto'
import { decodeJwt } from 'jose'
import t, { type Test } from 'tap'
import { eventually } from '../support/eventually.ts'
import { holdAppends } from '../support/event-store/held-appends.ts'
import { claimsLeftHeld, People } from '../support/identities/people.ts'
import type { MerchantClient } from '../support/service.ts'
import { goodPassword, newUser, signIn, type SignedIn } from '../support/identities/sign-in.ts'
import { startTwoApis } from '../support/processes/two-apis.ts'

const auth = '/api/v1/auth'
const open = { key: '' }

/** A little more than an address is held: to its clock, whatever is held has been held for long. */
const aheadMs = 16_000
const { runtime, apis, ports, clients, start } = await startTwoApis(t, aheadMs)
const { dependencies } = runtime
const [one, other] = clients
const both = [one, other] as const

const meAt = (client: MerchantClient, token: string) => client.get(`${auth}/me`, { key: token })
const refreshAt = (client: MerchantClient, refreshToken: string) =>
  client.post(`${auth}/refresh`, { refreshToken }, open)
const logoutAt = (client: MerchantClient, token: string) =>
  client.post(`${auth}/logout`, undefined, { key: token })

const shown = async (client: MerchantClient, token: string) => (await meAt(client, token)).status

/** What one process has heard of another a moment later. */
async function settles(t: Test, { token }: Pick<SignedIn, 'token'>, status: number, what: string) {
  for (const client of both) {
    const last = await eventually(
      () => shown(client, token),
      (known) => known === status,
    )
    t.equal(last, status, what)
  }
}

t.test('one refresh token has one successor, at whichever processes it is shown at once', async (t) => {
  const user = await newUser(one)
  let spent: string[] = [user.refreshToken]
  for (let round = 1; round <= 5; round += 1) {
    const asked = Array.from({ length: 8 }, (_, index) => refreshAt(both[index % 2]!, spent.at(-1)!))
    const answers = await Promise.all(asked)
    t.strictSame(
      answers.map(({ status }) => status),
      answers.map(() => 200),
    )
    const tokens = answers.map(({ body }) => String(body['refresh_token']))
    t.strictSame(new Set(tokens.map((token) => decodeJwt(token)['generation'])), new Set([round]))
    spent = [...spent, tokens[0]!]
  }
  await settles(t, user, 200, 'nobody was taken for a thief')
  const reused = await Promise.all(both.map((client) => refreshAt(client, spent[0]!)))
  t.strictSame(
    reused.map(({ status }) => status),
    [401, 401],
  )
  await settles(t, user, 401, 'who shows a spent one ends the session')
  for (const client of both) t.equal((await refreshAt(client, spent.at(-1)!)).status, 401)
})

t.test('what a process has ended itself is over with its next request', async (t) => {
  const user = await newUser(one)
  for (const _ of Array.from({ length: 10 })) {
    const { token } = await signIn(one, user)
    t.equal(await shown(one, token), 200)
    t.equal((await logoutAt(one, token)).status, 200)
    t.equal(await shown(one, token), 401)
  }
})

t.test('what ends at one process is over at the other', async (t) => {
  const user = await newUser(one)
  const second = await signIn(other, user)
  await settles(t, second, 200, 'known to both')
  t.equal((await logoutAt(one, second.token)).status, 200)
  await settles(t, second, 401, 'signed out')
  const third = await signIn(one, user)
  t.equal((await other.call('DELETE', `${auth}/sessions`, undefined, { key: user.token })).status, 200)
  await settles(t, third, 401, 'ended by the user')
  const body = { currentPassword: user.password, newPassword: 'encore quatre mots au hasard' }
  const fourth = await signIn(other, user)
  t.equal((await one.post(`${auth}/change-password`, body, { key: user.token })).status, 200)
  await settles(t, fourth, 401, 'ended by another password')
  await settles(t, user, 200, 'the one that changed it')
})

t.test(
  'people lose nothing to processes that are killed, and nothing that has ended comes back',
  async (t) => {
    const people = new People({ clients: both, codes: runtime.dependencies.codes })
    let isOver = false
    const living = Promise.all([1, 2].map(() => people.live(() => isOver)))
    const through = (count: number) =>
      eventually(
        async () => people.count,
        (lived) => lived >= count,
      )
    for (const index of [0, 1] as const) {
      people.most = people.count + 12
      await through(people.count + 4)
      await apis[index].end('SIGKILL')
      apis[index] = start('api', ports[index]!)
      await apis[index].port()
    }
    people.most += 4
    await through(people.most)
    isOver = true
    await living
    const tally = people.tally()
    t.comment(JSON.stringify(tally))
    t.ok(['registered', 'signed out', 'moved'].every((what) => tally[what]! > 3))
    t.strictSame(await people.complaints(), [])
    t.strictSame(await unfinished(), [])
  },
)

/** Claims that nobody keeps or frees. */
const unfinished = () => claimsLeftHeld(dependencies.store, 20_000)

for (const fate of ['is lost', 'is written all the same'] as const)
  t.test(`a process dies between the claim of an address and its user, whose append ${fate}`, async (t) => {
    const held = await holdAppends(runtime.postgres.pool, 'UserRegistered')
    const account = { email: `${randomUUID()}@example.com`, password: goodPassword }
    const body = { ...account, name: 'Awa Koné', merchantName: 'Boutique Awa' }
    const register = (client: MerchantClient) => client.post(`${auth}/register`, body, open)
    const asked = register(one).catch(() => undefined)
    await held.untilOneWaits()
    await apis[0].end('SIGKILL')
    await held.release(fate)
    t.equal(await asked, undefined, 'nobody was told')
    apis[0] = start('api', ports[0]!)
    const isWritten = fate !== 'is lost'
    const login = () => other.post(`${auth}/login`, account, open)
    if (!isWritten) t.equal((await eventually(() => register(other), isAnswered)).status, 201)
    const { body: session } = await eventually(login, ({ body: told }) => told['role'] === 'owner')
    t.match(session, { organization: {}, merchant: { name: 'Boutique Awa' } })
    t.strictSame(await unfinished(), [])
    await apis[0].port()
  })

function isAnswered({ body }: { readonly body: Record<string, unknown> }): boolean {
  return body['retryable'] !== true
}
