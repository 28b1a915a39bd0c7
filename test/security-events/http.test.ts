import t from 'tap'
import { eventually } from '../support/eventually.ts'
import { withTotp } from '../support/second-factors.ts'
import { serviceProcess } from '../support/service-process.ts'
import { temporaryDirectory, testDatabase } from '../support/postgres.ts'
import { startService, type TestService } from '../support/service.ts'
import { newUser, signIn, type SignedIn } from '../support/sign-in.ts'

const path = '/api/v1/auth/history'
const open = { key: '' }

interface Told {
  readonly type: string
  readonly actor: string
  readonly subject_type: string | null
  readonly subject_id: string | null
  readonly merchant_id: string | null
}

let service: TestService

t.before(async () => {
  service = await startService(t)
})

const as = ({ token }: SignedIn) => ({ key: token })
const history = async (by: SignedIn) =>
  (await service.get<{ data: readonly Told[] }>(`${path}?limit=100`, as(by))).body.data
const typesOf = (all: readonly Told[]) => all.map(({ type }) => type)

t.test('a user reads what happened to their access, newest first, and nobody else does', async (t) => {
  const [awa, stranger] = [await newUser(service), await newUser(service)]
  const wrong = { email: awa.email.toUpperCase(), password: 'encore quatre mots au hasard' }
  await service.post('/api/v1/auth/login', wrong, open)
  const second = await signIn(service, awa)
  await withTotp(service, awa)
  const wanted = { name: 'Shop', environment: 'sandbox', scopes: ['balance.read'] }
  const { body: key } = await service.post('/api/v1/auth/api-keys', wanted, as(awa))
  await service.call('DELETE', `/api/v1/auth/api-keys/${String(key['id'])}`, undefined, as(awa))
  await service.call('DELETE', `/api/v1/auth/sessions/${second.session}`, undefined, as(awa))
  const all = await eventually(
    () => history(awa),
    (told) => typesOf(told).includes('SessionEnded'),
  )
  t.strictSame(typesOf(all), [
    'SessionEnded',
    'ApiKeyRevoked',
    'ApiKeyIssued',
    'UserRecoveryCodesGenerated',
    'UserTotpEnabled',
    'UserTotpSetupStarted',
    'SessionStarted',
    'SignInFailed',
    'SessionStarted',
    'MerchantMemberAdded',
    'UserEmailVerificationRequested',
    'UserRegistered',
  ])
  t.match(all[1], { actor: `user:${awa.id}`, subject_type: 'api_key', subject_id: key['id'] })
  t.match(all.at(-3), { merchant_id: awa.merchant })
  t.notMatch(JSON.stringify(all), awa.email)
  const others = await history(stranger)
  t.strictSame(typesOf(others), [
    'SessionStarted',
    'MerchantMemberAdded',
    'UserEmailVerificationRequested',
    'UserRegistered',
  ])
})

t.test('the log of the service tells of it by ids, without address, name or secret', async (t) => {
  const { url: POSTGRES_URL } = await testDatabase(t)
  const settings = { POSTGRES_URL, LOG_LEVEL: 'info' }
  const { service: process, client } = await serviceProcess(t, temporaryDirectory(t), settings)
  const awa = await newUser(client)
  await client.post('/api/v1/auth/login', { email: awa.email, password: 'nobody knows it here' }, open)
  const lines = await eventually(
    async () => process.errors.split('\n').filter((line) => line.includes(awa.id)),
    (said) => ['UserRegistered', 'SignInTried'].every((type) => said.some((line) => line.includes(type))),
  )
  t.ok(lines.some((line) => line.includes('SessionStarted')))
  for (const secret of [awa.email, awa.token, awa.refreshToken, awa.password, 'Awa Koné'])
    t.notOk(process.errors.includes(secret))
})
