import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { decodeJwt } from 'jose'
import t, { type Test } from 'tap'
import type { Credentials } from '../../services/composition/first-merchant.ts'
import { eventually } from '../support/eventually.ts'
import { lawOver } from '../support/law.ts'
import { temporaryDirectory, testDatabase } from '../support/postgres.ts'
import { ServiceApart, type ServiceName } from '../support/service-apart.ts'
import { clientOf, type MerchantClient } from '../support/service.ts'
import { newUser, signIn, type SignedIn } from '../support/sign-in.ts'

const auth = '/api/v1/auth'
const open = { key: '' }
t.setTimeout(180_000)

const { url } = await testDatabase(t)
const dataDirectory = temporaryDirectory(t)

function start(name: ServiceName, port = 0): ServiceApart {
  const settings = { POSTGRES_URL: url, DATA_DIR: dataDirectory, PORT: String(port) }
  // A client of this service knows the issuer of its tokens, not which process signs them.
  const rest = { RATE_LIMIT: 'off', LOG_LEVEL: 'error', BASE_URL: 'https://pay.example' }
  return new ServiceApart(t, name, { ...settings, ...rest })
}

await start('setup').ended
const credentials = JSON.parse(readFileSync(join(dataDirectory, 'credentials.json'), 'utf8')) as Credentials
const apis = [start('api'), start('api')] as [ServiceApart, ServiceApart]
const ports = await Promise.all(apis.map((api) => api.port()))
const [one, other] = ports.map((port) => clientOf({ port, credentials })) as [MerchantClient, MerchantClient]
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

/** What became of a session, as far as a client has been told. */
type Told = 'started' | 'ended' | 'unknown'

/** Registers people, and signs every other one out again, at any process that answers. */
async function work(told: Map<SignedIn, Told>, isOver: () => boolean): Promise<void> {
  for (let turn = 0; !isOver(); turn += 1) {
    const client = both[turn % 2]!
    const session = await newUser(client).catch(() => undefined)
    if (!session) continue
    told.set(session, 'started')
    if (turn % 4 < 2) continue
    told.set(session, 'unknown')
    const left = await logoutAt(both[(turn + 1) % 2]!, session.token).catch(() => undefined)
    if (left?.status === 200) told.set(session, 'ended')
  }
}

t.test('a process that is killed loses no session, and none that has ended comes back', async (t) => {
  const told = new Map<SignedIn, Told>()
  let isOver = false
  const working = Promise.all([1, 2, 3].map(() => work(told, () => isOver)))
  const through = (count: number) =>
    eventually(
      async () => told.size,
      (size) => size >= count,
    )
  for (const index of [0, 1] as const) {
    await through(told.size + 12)
    await apis[index].end('SIGKILL')
    apis[index] = start('api', ports[index]!)
    await apis[index].port()
  }
  await through(told.size + 12)
  isOver = true
  await working
  const count = (which: Told) => [...told.values()].filter((known) => known === which).length
  t.comment(`${count('started')} started, ${count('ended')} ended, ${count('unknown')} unknown`)
  t.ok(count('started') > 10 && count('ended') > 10)
  await lawOver(t, told, async ([session, known]) => {
    const status = await shown(one, session.token)
    if (known === 'started') t.equal(status, 200, 'is not lost')
    if (known === 'ended') t.equal(status, 401, 'stays ended')
    await settles(t, session, status, 'both processes agree')
    const refreshed = await refreshAt(other, session.refreshToken)
    t.equal(refreshed.status, status, 'so does its refresh token')
  })
})
