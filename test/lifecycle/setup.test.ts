import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { readConfiguration } from '../../infra/configuration.ts'
import { openRuntime } from '../../services/composition/dependencies.ts'
import type { Credentials } from '../../services/composition/credentials.ts'
import { firstMerchant } from '../../services/composition/first-merchant.ts'
import { apiKey, apiKeyId } from '../../packages/domain/api-keys/api-key.ts'
import { streamName } from '../../packages/kernel/decider.ts'
import { eventually } from '../support/eventually.ts'
import { ServiceApart, type ServiceName } from '../support/processes/service-apart.ts'
import { temporaryDirectory, testDatabase } from '../support/postgres.ts'

const atOnce = 4

const id = '01932c5e-8f2a-7b3c-9d4e-5f6a7b8c9d0e'

t.test('however many set up at once, there is one first merchant, whose keys are in the file', async (t) => {
  const { url, pool } = await testDatabase(t)
  const settings = { POSTGRES_URL: url, DATA_DIR: temporaryDirectory(t), LOG_LEVEL: 'error' }
  const runtimes = await Promise.all(
    Array.from({ length: atOnce }, () => openRuntime(readConfiguration(settings))),
  )
  t.teardown(() => Promise.all(runtimes.map((runtime) => runtime.close())))
  const told = await Promise.all(runtimes.map((runtime) => firstMerchant(runtime, settings.DATA_DIR)))
  const file = readFileSync(join(settings.DATA_DIR, 'credentials.json'), 'utf8')
  const credentials = JSON.parse(file) as Credentials
  for (const one of told) t.strictSame(one, credentials)
  const { rows } = await pool.query<{ type: string; stream: string }>(
    `select type, stream from events
     where type in ('MerchantCreated', 'UserRegistered', 'ApiKeyIssued', 'EntryPosted')
     order by type, stream`,
  )
  t.strictSame(
    rows.map(({ type }) => type),
    ['ApiKeyIssued', 'ApiKeyIssued', 'EntryPosted', 'MerchantCreated', 'UserRegistered'],
  )
  const keys = [credentials.sandbox_key, credentials.live_key]
    .map((key) => streamName(apiKey.category, apiKeyId(createHash('sha256').update(key).digest('hex'))))
    .toSorted()
  t.strictSame(
    rows.filter(({ type }) => type === 'ApiKeyIssued').map(({ stream }) => stream),
    keys,
  )
})

/** Another process is at work, for as long as the test lasts. */
async function holding(t: Test, key: string) {
  const { url, pool } = await testDatabase(t)
  const other = await pool.connect()
  t.teardown(() => other.release(true))
  await other.query(`select pg_advisory_lock(${key})`)
  return { POSTGRES_URL: url, DATA_DIR: temporaryDirectory(t), LOG_LEVEL: 'silent', PORT: '0' }
}

const setUp = "hashtextextended('first merchant', 0)"
const migrations = '4719202603'
const waits = 'Another process sets up the first merchant; waiting up to'

t.test('a setup that waits for another one says so, and gives up in time', async (t) => {
  const settings = await holding(t, setUp)
  const started = new ServiceApart(t, 'setup', { ...settings, START_WAIT_SECONDS: '2' })
  t.equal(await started.ended, 1)
  const givesUp = 'Another process sets up the first merchant, and has not ended within 2 s'
  t.equal(started.errors, `${waits} 2 s for it\n${givesUp}\n`)
  t.equal(started.output, '')
})

interface Waiting {
  readonly key: string
  readonly service: ServiceName
  readonly code: number
  readonly says: RegExp
  readonly atTheEnd?: string
}

const waiting: Readonly<Record<string, Waiting>> = {
  'a setup that waits for another one': {
    key: setUp,
    service: 'setup',
    code: 1,
    says: new RegExp(`^${waits} 300 s for it$`, 'm'),
    atTheEnd: 'told to end before all was set up\n',
  },
  'a service that waits for the migrations of another one': {
    key: migrations,
    service: 'projector',
    code: 0,
    says: /^Another process migrates this database; waiting for it$/m,
  },
}

for (const [what, { key, service, code, says, atTheEnd = '' }] of Object.entries(waiting)) {
  t.test(`${what} ends at once when it is told to`, async (t) => {
    const settings = await holding(t, key)
    const started = new ServiceApart(t, service, { ...settings, START_WAIT_SECONDS: '300' })
    await eventually(
      async () => started.errors,
      (errors) => says.test(errors),
    )
    const told = started.errors
    t.equal(await started.end('SIGTERM'), code)
    t.equal(started.errors, told + atTheEnd)
  })
}

t.test(
  'a file that does not hold the keys is named, and nobody else becomes the first merchant',
  async (t) => {
    const { url, pool } = await testDatabase(t)
    const DATA_DIR = temporaryDirectory(t)
    const file = join(DATA_DIR, 'credentials.json')
    const runtime = await openRuntime(readConfiguration({ POSTGRES_URL: url, DATA_DIR, LOG_LEVEL: 'error' }))
    t.teardown(() => runtime.close())
    const ofNobody = ['{"live_key":"ik_live_x"}', '{"sandbox_key":"ik_test_x","owner_email":"a@example.com"}']
    const noParts = ['', '{"merchant_id":', 'null', '[]', '"x"', '{}', '{"__proto__":{"merchant_id":"x"}}']
    const cutKeys = ['x', 'ik_test_', `ik_test_${'x'.repeat(42)}`]
    const noKeys = [
      '{"sandbox_key":7}',
      ...cutKeys.map((key) => `{"merchant_id":"${id}","sandbox_key":"${key}"}`),
    ]
    const damaged = [...noParts, '{"merchant_id":"x"}', ...noKeys, ...ofNobody]
    for (const text of damaged) {
      writeFileSync(file, text)
      await t.rejects(firstMerchant(runtime, DATA_DIR), { message: /credentials\.json is damaged/ }, text)
      t.equal(readFileSync(file, 'utf8'), text)
    }
    t.equal((await pool.query('select from events')).rowCount, 0)
    rmSync(file)
    mkdirSync(file)
    await t.rejects(firstMerchant(runtime, DATA_DIR), { message: /credentials\.json is damaged/ })
  },
)

t.test('a file that has lost or changed a part is named, where the merchant is known already', async (t) => {
  const { url, pool } = await testDatabase(t)
  const DATA_DIR = temporaryDirectory(t)
  const file = join(DATA_DIR, 'credentials.json')
  const runtime = await openRuntime(readConfiguration({ POSTGRES_URL: url, DATA_DIR, LOG_LEVEL: 'error' }))
  t.teardown(() => runtime.close())
  const first = await firstMerchant(runtime, DATA_DIR)
  const before = (await pool.query('select from events')).rowCount
  const { merchant_id, owner_email, owner_password, ...keys } = first
  for (const damaged of [
    keys,
    { owner_email, owner_password, ...keys },
    { owner_email, owner_password },
    { owner_email },
    { merchant_id, owner_email, ...keys },
    { merchant_id, owner_password, ...keys },
    { ...first, sandbox_key: first.live_key, live_key: first.sandbox_key },
    { ...first, merchant_id: id },
    { ...first, sandbox_key: first.sandbox_key.slice(0, -1) },
    { ...first, live_key: `${first.live_key} ` },
  ]) {
    writeFileSync(file, JSON.stringify(damaged))
    await t.rejects(firstMerchant(runtime, DATA_DIR), { message: /credentials\.json is damaged/ })
    t.strictSame(JSON.parse(readFileSync(file, 'utf8')), damaged, 'it stays as it is')
  }
  t.equal((await pool.query('select from events')).rowCount, before)
  writeFileSync(file, JSON.stringify(first))
  t.strictSame(await firstMerchant(runtime, DATA_DIR), first)
})

t.test('what is missing of the first keys is made up once', async (t) => {
  const { url } = await testDatabase(t)
  const DATA_DIR = temporaryDirectory(t)
  const file = join(DATA_DIR, 'credentials.json')
  const runtime = await openRuntime(readConfiguration({ POSTGRES_URL: url, DATA_DIR, LOG_LEVEL: 'error' }))
  t.teardown(() => runtime.close())
  writeFileSync(file, JSON.stringify({ owner_password: 'somebody knows it' }), { mode: 0o600 })
  const first = await firstMerchant(runtime, DATA_DIR)
  t.equal(first.owner_password, 'somebody knows it')
  t.strictSame(await firstMerchant(runtime, DATA_DIR), first)
  t.strictSame(JSON.parse(readFileSync(file, 'utf8')), first)
  t.equal(statSync(file).mode & 0o777, 0o600)
})
