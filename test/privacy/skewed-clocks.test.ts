import t from 'tap'
import { userSessions } from '../../packages/domain/sessions/user-sessions.ts'
import { ikw, settingsOf } from '../support/cli.ts'
import { newUser, signIn } from '../support/identities/sign-in.ts'
import { startService, type TestService } from '../support/service.ts'

let service: TestService
let aheadMs = 0
t.before(async () => {
  service = await startService(t, {}, { clock: () => new Date(Date.now() + aheadMs) })
})

t.test('who is erased has no session, whatever the clocks of the machines said', async (t) => {
  const user = await newUser(service)
  const why = ['--by', 'awa', '--reason', 'Asked for it by mail']
  // The machine that signs in is two minutes ahead of that of the command line.
  aheadMs = 120_000
  const ahead = await signIn(service, user)
  const settings = settingsOf(service)
  t.match(await ikw(settings, 'merchants', 'suspend', user.merchant, ...why), { code: 0 })
  t.match(await ikw(settings, 'privacy', 'erase', user.email, ...why), { code: 0 })
  const { executor } = service.service.runtime.dependencies
  t.strictSame((await executor.current(userSessions, user.id)).state.active, [])
  for (const { token: key } of [user, ahead])
    t.equal((await service.get('/api/v1/auth/me', { key })).status, 401)
})
