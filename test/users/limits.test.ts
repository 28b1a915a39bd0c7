import { randomUUID } from 'node:crypto'
import t from 'tap'
import { startService, type TestService } from '../support/service.ts'
import { signInGuard } from '../../packages/domain/sign-in/sign-in-guard.ts'
import { eventually } from '../support/eventually.ts'
import { goodPassword, newUser } from '../support/sign-in.ts'

const auth = '/api/v1/auth'

let service: TestService

t.before(async () => {
  service = await startService(t, { RATE_LIMIT: 'on', TRUSTED_PROXIES: '127.0.0.0/8' })
})

t.test('nobody can fill a foreign mailbox, neither with one account nor with several', async (t) => {
  const [one, two] = [await newUser(service), await newUser(service)]
  const resend = () => service.post(`${auth}/verify-email/resend`, undefined, { key: one.token })
  const limited = { status: 429, body: { code: 'IKW-RATE-001' } }
  t.equal((await resend()).status, 200)
  t.match(await resend(), limited)
  const newEmail = `foreign.${one.email}`
  const ask = (key: string) => service.post(`${auth}/email-change/request`, { newEmail }, { key })
  t.equal((await ask(one.token)).status, 201)
  const refused = await ask(two.token)
  t.match(refused, limited)
  t.ok(Number(refused.headers.get('retry-after')) > 0)
})

t.test('a network registers a hundred people an hour, and no other network waits for it', async (t) => {
  const body = { password: goodPassword, name: 'Awa', merchantName: 'Awa' }
  const register = (network: string) => {
    const email = `${randomUUID()}@example.com`
    const headers = { 'x-forwarded-for': network }
    return service.post(`${auth}/register`, { ...body, email }, { key: '', headers })
  }
  t.equal((await register('2001:db8:0:1::1')).status, 201)
  const { executor, blindIndex } = service.service.runtime.dependencies
  const guard = await blindIndex(JSON.stringify(['sign in', 'registrations', '8193:3512:0:1']))
  const envelope = { platform: true, actor: 'test', correlation: 'test' } as const
  const data = { purpose: 'registrations', isLimited: true } as const
  const counted = { command: { type: 'RequestMail', data }, envelope } as const
  await executor.sendAll(
    signInGuard,
    guard,
    Array.from({ length: 99 }, () => counted),
  )
  const refused = await register('2001:db8:0:1::2')
  t.match(refused, { status: 429, body: { code: 'IKW-RATE-001', retryable: true } })
  t.ok(Number(refused.headers.get('retry-after')) > 3_000)
  t.equal((await register('2001:db8:0:2::1')).status, 201)
})

t.test('a network that fails a hundred times over all accounts waits, and no other does', async (t) => {
  const user = await newUser(service)
  const login = (network: string, password: string) => {
    const headers = { 'x-forwarded-for': network }
    return service.post(`${auth}/login`, { email: user.email, password }, { key: '', headers })
  }
  const { executor, blindIndex, newId } = service.service.runtime.dependencies
  const guard = await blindIndex(JSON.stringify(['sign in', 'address', '203.0.113.7']))
  const envelope = { platform: true, actor: 'test', correlation: 'test' } as const
  const failed = () => {
    const data = { attempt: newId(), user: null, of: 'address' } as const
    return { command: { type: 'TrySignIn', data }, envelope } as const
  }
  await executor.sendAll(signInGuard, guard, Array.from({ length: 99 }, failed))
  t.equal((await login('203.0.113.7', user.password)).status, 200)
  t.equal((await login('203.0.113.7', 'encore quatre mots au hasard')).status, 401)
  const refused = await login('203.0.113.7', user.password)
  t.match(refused, { status: 423, body: { code: 'IKW-AUTH-006' } })
  t.ok(Number(refused.headers.get('retry-after')) > 800)
  t.equal((await login('203.0.113.8', user.password)).status, 200, 'the account is not locked')
})

t.test('who signs in all the time from one network keeps nobody of another one out', async (t) => {
  const login = async ({ email, password }: { email: string; password: string }, network: string) => {
    const headers = { 'x-forwarded-for': network }
    return (await service.post(`${auth}/login`, { email, password }, { key: '', headers })).status
  }
  const user = await newUser(service)
  const crowd = await Promise.all(Array.from({ length: 8 }, () => newUser(service)))
  const statuses = new Set<number>()
  let isOver = false
  const flood = crowd.flatMap((one) =>
    Array.from({ length: 9 }, async () => {
      while (!isOver) statuses.add(await login(one, '203.0.113.9'))
    }),
  )
  await eventually(
    async () => statuses.has(503),
    (isRefused) => isRefused,
  )
  const others: number[] = []
  for (const index of Array.from({ length: 10 }).keys())
    others.push(await login(user, `203.0.113.${20 + index}`))
  isOver = true
  await Promise.all(flood)
  t.strictSame(
    others,
    Array.from({ length: 10 }, () => 200),
  )
})
