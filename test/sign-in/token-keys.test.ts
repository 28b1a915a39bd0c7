import { decodeProtectedHeader } from 'jose'
import t from 'tap'
import { readConfiguration } from '../../infra/configuration.ts'
import { tokenKeys, tokenKeysId } from '../../packages/domain/sign-in/token-keys.ts'
import type { Tokens } from '../../packages/kernel/ports/credentials.ts'
import type { EventStore } from '../../packages/kernel/ports.ts'
import { openRuntime } from '../../services/composition/dependencies.ts'
import { openTokens } from '../../services/composition/tokens.ts'
import { eventually } from '../support/eventually.ts'
import { temporaryDirectory, testDatabase } from '../support/postgres.ts'
import { startService, type TestService } from '../support/service.ts'
import { newUser, signIn } from '../support/identities/sign-in.ts'

const claims = { subject: '0190a1b2-0000-7000-8000-000000000001', id: 'session' }
const soon = () => new Date(Date.now() + 60_000)
const times = [1, 2, 3, 4]

let service: TestService

t.before(async () => {
  service = await startService(t)
})

/** A process that has not read the keys yet. */
function another(store: EventStore) {
  return openTokens({ ...service.service.runtime.dependencies, store })
}

t.test('a process that meets a key for the first time takes all who come with it at once', async (t) => {
  const { tokens, store } = service.service.runtime.dependencies
  const token = await tokens.sign('access', claims, soon())
  const other = another(store)
  const opened = await Promise.all(times.map(() => other.open('access', token)))
  t.strictSame(
    opened.map((one) => one?.claims),
    times.map(() => claims),
  )
})

t.test('while keys cannot be read no token is called wrong', async (t) => {
  const { tokens, store } = service.service.runtime.dependencies
  const token = await tokens.sign('access', claims, soon())
  let isAway = true
  const away = new Proxy(store, {
    get: (known, name) => {
      if (isAway && name === 'readStream') return () => Promise.reject(new Error('the store is away'))
      const value: unknown = Reflect.get(known, name)
      return typeof value === 'function' ? (value.bind(known) as unknown) : value
    },
  })
  const other = another(away)
  for (const _ of times) await t.rejects(other.open('access', token), /away/)
  isAway = false
  t.match(await other.open('access', token), { claims })
})

const dayMs = 24 * 3_600_000
const kidOf = (token: string) => decodeProtectedHeader(token).kid
const kidsOf = async ({ publicKeys }: Tokens) =>
  ((await publicKeys()) as readonly { kid: string }[]).map(({ kid }) => kid)

t.test('a key signs for 90 days, and what it has signed is good until its end', async (t) => {
  const { url: POSTGRES_URL } = await testDatabase(t)
  const settings = { POSTGRES_URL, DATA_DIR: temporaryDirectory(t), LOG_LEVEL: 'silent' }
  let days = 0
  const clock = () => new Date(Date.parse('2026-01-01T12:00:00Z') + days * dayMs)
  const { dependencies, close } = await openRuntime(readConfiguration(settings), { clock })
  t.teardown(close)
  const { tokens } = dependencies
  const sign = () => tokens.sign('refresh', claims, new Date(clock().getTime() + 30 * dayMs))
  const first = await sign()
  days = 89
  const last = await sign()
  t.equal(kidOf(last), kidOf(first))
  t.strictSame(await kidsOf(tokens), [kidOf(first)])

  days = 91
  const next = await sign()
  t.not(kidOf(next), kidOf(first))
  t.strictSame(await kidsOf(tokens), [kidOf(first), kidOf(next)], 'both are shown')
  const others = [tokens, openTokens(dependencies)]
  for (const each of others) {
    t.match(await each.open('refresh', last), { claims })
    t.match(await each.open('refresh', next), { claims })
  }
  days = 118
  for (const each of others) t.match(await each.open('refresh', last), { claims }, 'until its end')
  days = 120
  for (const each of others) t.equal(await each.open('refresh', last), undefined)

  days = 182
  const third = await sign()
  t.strictSame(await kidsOf(tokens), [kidOf(next), kidOf(third)], 'nothing needs the first one any more')
})

t.test('a key that is retired signs and opens nothing within a second, in any process', async (t) => {
  const { tokens, store, executor } = service.service.runtime.dependencies
  const user = await newUser(service)
  const me = () => service.get('/api/v1/auth/me', { key: user.token })
  t.equal((await me()).status, 200)
  const other = another(store)
  t.match(await other.open('access', user.token), { claims: { subject: user.id } })
  const id = kidOf(user.token)!

  const envelope = { platform: true, actor: 'cli:awa', correlation: 'test' } as const
  const retire = { type: 'RetireTokenKey', data: { id, reason: 'Was in a dump of memory' } } as const
  await executor.send(tokenKeys, tokenKeysId, retire, envelope)
  const retiredAt = performance.now()
  const late = await other.sign('refresh', claims, soon())
  t.equal(kidOf(late), id, 'a process that knows nothing of it yet still signs')
  for (const each of [tokens, other]) {
    t.equal(await each.open('refresh', user.refreshToken), undefined, 'at once')
    t.equal(await each.open('refresh', late), undefined, 'what is signed later opens nothing either')
  }
  await eventually(me, ({ status }) => status === 401)
  await eventually(
    () => other.open('access', user.token),
    (opened) => opened === undefined,
  )
  t.ok(performance.now() - retiredAt < 5_000, 'a second, and what a busy machine needs')
  const refused = await service.post('/api/v1/auth/refresh', { refreshToken: user.refreshToken }, { key: '' })
  t.equal(refused.status, 401)

  const again = await signIn(service, user)
  t.not(kidOf(again.token), id)
  t.equal((await service.get('/api/v1/auth/me', { key: again.token })).status, 200)
  t.match(await other.open('access', again.token), { claims: { subject: user.id } })
  for (const each of [tokens, other]) t.strictSame(await kidsOf(each), [kidOf(again.token)])
})
