import { decodeProtectedHeader } from 'jose'
import t from 'tap'
import { ikw, jsonOf, settingsOf } from '../support/cli.ts'
import { eventually } from '../support/eventually.ts'
import { startService } from '../support/service.ts'
import { newUser, signIn } from '../support/identities/sign-in.ts'

interface Shown {
  readonly id: string
  readonly use: string
}

t.test('an operator retires a key that has leaked, and everybody signs in again', async (t) => {
  const service = await startService(t)
  const user = await newUser(service)
  const secrets = (...parameters: readonly string[]) => ikw(settingsOf(service), 'secrets', ...parameters)
  const keys = async () => jsonOf<readonly Shown[]>(await secrets('token-keys', '--json'))
  const id = decodeProtectedHeader(user.token).kid!
  t.match(await keys(), [{ id, use: 'signs' }])

  const why = ['--by', 'awa', '--reason', 'Was in a dump of memory'] as const
  const done = await secrets('retire-token-key', id, ...why)
  t.match(done, { code: 0, stdout: `${id} is retired. Everybody whom it let in signs in again.\n` })
  t.strictSame(await keys(), [])
  const again = await secrets('retire-token-key', id, ...why)
  t.match(again, { code: 2, stderr: `There is no key ${id} that is in use.` })

  const refresh = { refreshToken: user.refreshToken }
  await eventually(
    () => service.post('/api/v1/auth/refresh', refresh, { key: '' }),
    ({ status }) => status === 401,
  )
  const { token } = await signIn(service, user)
  t.equal((await service.get('/api/v1/auth/me', { key: token })).status, 200)
  t.match(await keys(), [{ id: decodeProtectedHeader(token).kid, use: 'signs' }])
})
