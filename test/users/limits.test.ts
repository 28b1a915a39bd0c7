import { randomUUID } from 'node:crypto'
import t from 'tap'
import { startService, type TestService } from '../support/service.ts'
import { signInGuard, triesMax } from '../../packages/domain/sign-in/sign-in-guard.ts'
import { PasswordsBusyError } from '../../packages/kernel/ports/credentials.ts'
import { queueKeysOf } from '../../services/api/actions/auth/sign-in-guards.ts'
import { eventually } from '../support/eventually.ts'
import { mailsTo } from '../support/identities/mails.ts'
import { goodPassword, newUser } from '../support/identities/sign-in.ts'

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
  t.match(await ask(one.token), limited)
  t.equal((await ask(two.token)).status, 201, 'who has the address waits for nobody else')
  const { executor, blindIndex } = service.service.runtime.dependencies
  const guard = await blindIndex(JSON.stringify(['sign in', 'account', newEmail]))
  const envelope = { platform: true, actor: 'test', correlation: 'test' } as const
  const mailed = (asker: string) => {
    const data = { purpose: 'email_change', asker, isLimited: true } as const
    return { command: { type: 'RequestMail', data }, envelope } as const
  }
  await executor.sendAll(signInGuard, guard, [...'abcdefgh'].map(mailed))
  const refused = await ask((await newUser(service)).token)
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
  const data = { purpose: 'registrations', asker: null, isLimited: true } as const
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

/** Signs a user in from the address that is given. */
function loginOf({ email }: { readonly email: string }) {
  return (address: string, password: string) => {
    const headers = { 'x-forwarded-for': address }
    return service.post(`${auth}/login`, { email, password }, { key: '', headers })
  }
}

/** So many sign-ins of a network have failed. */
async function failedTimes(count: number, network: string, of: keyof typeof triesMax): Promise<void> {
  const { executor, blindIndex, newId } = service.service.runtime.dependencies
  const guard = await blindIndex(JSON.stringify(['sign in', 'address', network]))
  const envelope = { platform: true, actor: 'test', correlation: 'test' } as const
  const failed = () => {
    const data = { attempt: newId(), user: null, of } as const
    return { command: { type: 'TrySignIn', data }, envelope } as const
  }
  await executor.sendAll(signInGuard, guard, Array.from({ length: count }, failed))
}

t.test('a network that fails a hundred times over all accounts waits, and no other does', async (t) => {
  const user = await newUser(service)
  const login = loginOf(user)
  await failedTimes(99, '203.0.113.7', 'address')
  t.equal((await login('203.0.113.7', user.password)).status, 200)
  t.equal((await login('203.0.113.7', 'encore quatre mots au hasard')).status, 401)
  const refused = await login('203.0.113.7', user.password)
  t.match(refused, { status: 423, body: { code: 'IKW-AUTH-006' } })
  t.ok(Number(refused.headers.get('retry-after')) > 800)
  t.equal((await login('203.0.113.8', user.password)).status, 200, 'the account is not locked')
})

t.test('a subscriber of many networks counts as one, who may do twice as much', async (t) => {
  const user = await newUser(service)
  const login = loginOf(user)
  await failedTimes(199, '8193:3512:7:0/56', 'subscriber')
  t.equal((await login('2001:db8:7:1::1', user.password)).status, 200)
  t.equal((await login('2001:db8:7:2::1', 'encore quatre mots au hasard')).status, 401)
  t.match(await login('2001:db8:7:3::1', user.password), { status: 423, body: { code: 'IKW-AUTH-006' } })
  t.equal((await login('2001:db8:7:100::1', user.password)).status, 200, 'of another subscriber')
})

t.test('who has all that one network may have hashed keeps nobody of another one out', async (t) => {
  const user = await newUser(service)
  const login = async (network: string) => {
    const { email, password } = user
    const headers = { 'x-forwarded-for': network }
    return (await service.post(`${auth}/login`, { email, password }, { key: '', headers })).status
  }
  const { passwords } = service.service.runtime.dependencies
  const client = { address: '203.0.113.9', device: null, country: null, language: null } as const
  const places: ReturnType<typeof passwords.reserve>[] = []
  const fill = () => {
    for (;;) places.push(passwords.reserve(queueKeysOf({ client }, `${places.length}@example.com`)))
  }
  t.throws(fill, PasswordsBusyError)
  t.equal(await login('203.0.113.9'), 503)
  t.equal(await login('203.0.113.10'), 200)
  for (const place of places) place.release()
  t.equal(await login('203.0.113.9'), 200)
})

t.test('a stranger who asks for links all the time leaves the owner theirs', async (t) => {
  const { email } = await newUser(service)
  const ask = async (network: string) => {
    const headers = { 'x-forwarded-for': network }
    return (await service.post(`${auth}/forgot-password`, { email }, { key: '', headers })).status
  }
  const mailed = (count: number) =>
    eventually(
      async () => mailsTo(service.service, email, /reset-password/).length,
      (found) => found === count,
    )
  t.equal(await ask('203.0.113.60'), 200)
  await mailed(1)
  t.equal(await ask('203.0.113.60'), 200)
  t.equal(await ask('203.0.113.61'), 200)
  await mailed(2)
})
