import t from 'tap'
import { user as users } from '../../packages/domain/users/user.ts'
import { eventually } from '../support/eventually.ts'
import { mailedToken, mailsTo } from '../support/identities/mails.ts'
import { proof, withTotp } from '../support/identities/second-factors.ts'
import { startService, type TestService } from '../support/service.ts'
import { newUser, signIn, type SignedIn } from '../support/identities/sign-in.ts'

const auth = '/api/v1/auth'
const open = { key: '' }
const hour = 3_600_000

let service: TestService
let now = Date.now()

t.before(async () => {
  const settings = { RATE_LIMIT: 'on', TRUSTED_PROXIES: '127.0.0.0/8' }
  service = await startService(t, settings, { clock: () => new Date(now) })
})

async function confirmed(): Promise<SignedIn> {
  const user = await newUser(service)
  const token = await mailedToken(service.service, user.email, 'verify-email')
  t.equal((await service.post(`${auth}/verify-email`, { token }, { key: user.token })).status, 200)
  return user
}

/** Nothing waits to be told but what is late on purpose. */
async function settled(isTold: () => boolean): Promise<void> {
  t.ok(await eventually(async () => isTold(), Boolean))
}

/** What was tried when the hour had not passed yet is tried again seconds later. */
const settledLater = (isTold: () => boolean) =>
  settled(() => {
    now += 1_000
    return isTold()
  })

/** How much a user is still to be told. */
function noticesOf(id: string) {
  const { executor } = service.service.runtime.dependencies
  return async () => {
    const { state } = await executor.current(users, id)
    return state.status === 'active' ? state.notices.length : NaN
  }
}

const changed = /Le mot de passe de votre compte vient/

t.test('of many changes a user is told five times an hour, and of all that are left at once', async (t) => {
  const { id, email } = await newUser(service)
  const { executor } = service.service.runtime.dependencies
  const waiting = noticesOf(id)
  const envelope = { user: id, actor: `user:${id}`, correlation: 'test' } as const
  const mails = () => mailsTo(service.service, email, changed).length
  for (let count = 1; count <= 12; count += 1) {
    const data = { password: `hash ${count}`, session: null }
    await executor.send(users, id, { type: 'ChangePassword', data }, envelope)
    if (count <= 5) await settled(() => mails() === count)
    now += 1_000
  }
  t.equal(await waiting(), 7)
  now += hour
  await settledLater(() => mails() === 6)
  await eventually(waiting, (count) => count === 0)
  t.equal(mails(), 6)
})

t.test('and of sessions that a thief has used', async (t) => {
  const user = await newUser(service)
  const refresh = (refreshToken: string) => service.post(`${auth}/refresh`, { refreshToken }, open)
  const mails = () => mailsTo(service.service, user.email, /ouverte à deux endroits/).length
  for (let count = 1; count <= 7; count += 1) {
    const { refreshToken } = await signIn(service, user)
    const second = await refresh(refreshToken)
    t.equal((await refresh(String(second.body['refresh_token']))).status, 200)
    t.equal((await refresh(refreshToken)).status, 401)
    if (count <= 5) await settled(() => mails() === count)
    now += 1_000
  }
  t.equal(mails(), 5)
  now += hour
  await settledLater(() => mails() === 6)
})

t.test(
  'an address is invited ten times an hour, whoever invites it, and nobody takes all of them',
  async (t) => {
    const email = `invited.${now}@example.com`
    const invite = async ({ token: key }: SignedIn, to = email) => {
      const answer = await service.post(
        '/api/v1/merchant/team/invite',
        { email: to, role: 'developer' },
        { key },
      )
      return answer.status
    }
    const times = async (count: number, by: SignedIn) => {
      const statuses: number[] = []
      for (let left = count; left > 0; left -= 1) statuses.push(await invite(by))
      return statuses
    }
    const [one, two] = [await confirmed(), await confirmed()]
    t.strictSame(await times(5, one), [201, 201, 201, 201, 201])
    t.strictSame(await times(4, two), [201, 201, 201, 429])
    t.equal(await invite(two, `other.${email}`), 201)
  },
)

t.test('an account that moves to an address again and again writes to it once in a while', async (t) => {
  const user = await newUser(service)
  const { codes } = await withTotp(service, user)
  const victim = `victim.${user.email}`
  const move = async (newEmail: string) => {
    const challengeId = await proof(service, user, { purpose: 'change_email', code: codes.pop()! })
    return service.post(`${auth}/change-email`, { challengeId, newEmail }, { key: user.token })
  }
  t.equal((await move(victim)).status, 200)
  t.equal((await move(`third.${user.email}`)).status, 200)
  t.match(await move(victim), { status: 429, body: { code: 'IKW-RATE-001' } })
})
