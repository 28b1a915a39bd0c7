import { randomBytes, randomUUID } from 'node:crypto'
import t from 'tap'
import { readConfiguration } from '../../infra/configuration.ts'
import { postgresSnapshots } from '../../infra/postgres/snapshots.ts'
import { openVault } from '../../infra/secrets/vault.ts'
import { user as users, type User } from '../../packages/domain/users/user.ts'
import { streamName } from '../../packages/kernel/decider.ts'
import { readState } from '../../packages/kernel/history.ts'
import { openRuntime } from '../../services/composition/dependencies.ts'
import { sealedSnapshots } from '../../services/composition/sealed-snapshots.ts'
import { eventually } from '../support/eventually.ts'
import { temporaryDirectory, testDatabase } from '../support/postgres.ts'

const { version } = users.snapshot!
const secrets = { email: 'awa@example.com', password: '$argon2id$v=19$hash', secret: 'JBSWY3DPEHPK3PXP' }

t.test('who has signed in for years is read from a snapshot, which the database keeps sealed', async (t) => {
  const { url: POSTGRES_URL } = await testDatabase(t)
  const settings = { POSTGRES_URL, DATA_DIR: temporaryDirectory(t), LOG_LEVEL: 'silent' }
  const { dependencies, snapshots, postgres, close } = await openRuntime(readConfiguration(settings))
  t.teardown(close)
  const id = randomUUID()
  const envelope = { user: id, actor: 'test', correlation: id }
  await dependencies.executor.sendAll(
    users,
    id,
    signedInDaily(300).map((command) => ({ command, envelope })),
  )
  const stream = streamName(users.category, id)
  const kept = (await eventually(
    () => snapshots.load(stream, version),
    (one) => one !== undefined,
  ))!
  t.ok(kept.revision > 250)
  const whole: User = await readState(dependencies.store, users, id)
  t.match(kept.state, { status: 'active', email: secrets.email, totp: { secret: secrets.secret } })
  t.strictSame(JSON.stringify(kept.state), JSON.stringify(whole))

  const { rows } = await postgres.pool.query('select state::text from snapshots where stream = $1', [stream])
  for (const secret of Object.values(secrets)) t.notOk(JSON.stringify(rows).includes(secret), 'is sealed')

  const another = openVault(() => ({ current: randomBytes(32), older: [] }))
  const elsewhere = sealedSnapshots(postgresSnapshots(postgres.pool), another)
  t.equal(await elsewhere.load(stream, version), undefined, 'without its key there is none')
  t.strictSame(
    (await dependencies.executor.stored(users, id)).state,
    JSON.parse(JSON.stringify(whole)),
    'and with it nothing else is needed',
  )
})

function signedInDaily(days: number) {
  const { email, password, secret } = secrets
  const registered = { email, password, name: 'Awa', phone: null, language: 'fr', held: [] } as const
  const secretId = randomUUID()
  return [
    { type: 'RegisterUser', data: { ...registered, merchant: null, founded: null } } as const,
    { type: 'SetUpTotp', data: { secretId, secret } } as const,
    { type: 'EnableTotp', data: { secretId, step: 0, batch: randomUUID(), digests: [] } } as const,
    ...Array.from({ length: days }, (_, day) => ({ type: 'UseTotp', data: { step: day + 1 } }) as const),
  ]
}
