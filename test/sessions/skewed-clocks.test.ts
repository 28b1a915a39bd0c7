import t from 'tap'
import { userSessions } from '../../packages/domain/sessions/user-sessions.ts'
import { user as users, type UserCommands } from '../../packages/domain/users/user.ts'
import type { Message } from '../../packages/kernel/decider.ts'
import { eventually } from '../support/eventually.ts'
import { lawOver } from '../support/law.ts'
import { withTotp } from '../support/identities/second-factors.ts'
import { newUser, signIn, type SignedIn } from '../support/identities/sign-in.ts'
import { startService, type TestService } from '../support/service.ts'

const password = 'encore quatre mots au hasard'
const minute = 60_000

let service: TestService
let aheadMs = 0
t.before(async () => {
  service = await startService(t, {}, { clock: () => new Date(Date.now() + aheadMs) })
})

const parts = () => service.service.runtime.dependencies
const hashed = (text: string) => parts().passwords.hash(text, [])

/** What ends all sessions of a user, written by a process that is killed before it has ended them itself. */
const endings: Readonly<Record<string, (user: SignedIn) => Promise<Message<UserCommands>>>> = {
  'a password is changed': async () => ({
    type: 'ChangePassword',
    data: { password: await hashed(password), session: null },
  }),
  'an account is taken over': async () => ({
    type: 'TakeOver',
    data: { password: await hashed(password) },
  }),
  'factors are undone': async (user) => {
    const since = new Date(Date.now() - minute).toISOString()
    await withTotp(service, user)
    return { type: 'UndoFactors', data: { since } }
  },
  'a user leaves': async () => ({ type: 'LeaveUser', data: {} }),
}

async function active(id: string): Promise<readonly string[]> {
  const { state } = await parts().executor.current(userSessions, id)
  return state.active.map((session) => session.id)
}

t.test('a session that began on a machine whose clock is ahead ends all the same', async (t) => {
  await lawOver(t, Object.entries(endings), async ([what, ending]) => {
    aheadMs = 2 * minute
    const user = await newUser(service)
    const command = await ending(user)
    aheadMs = 0
    const own = { user: user.id, actor: 'test', correlation: 'test' }
    await parts().executor.send(users, user.id, command, own)
    t.strictSame(
      await eventually(
        () => active(user.id),
        ({ length }) => length === 0,
      ),
      [],
      what,
    )
    t.equal((await service.get('/api/v1/auth/me', { key: user.token })).status, 401, what)
  })
})

t.test('and one that began behind it on a machine whose clock is behind goes on', async (t) => {
  const user = await newUser(service)
  const own = { user: user.id, actor: 'test', correlation: 'test' }
  await parts().executor.send(users, user.id, await endings['a password is changed']!(user), own)
  aheadMs = -2 * minute
  const again = await signIn(service, { ...user, password })
  aheadMs = 0
  t.strictSame(
    await eventually(
      () => active(user.id),
      ({ length }) => length === 1,
    ),
    [again.session],
  )
})
