import { createHash } from 'node:crypto'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { readConfiguration } from '../../infra/configuration.ts'
import { openRuntime } from '../../services/composition/dependencies.ts'
import type { Credentials } from '../../services/composition/credentials.ts'
import { firstMerchant } from '../../services/composition/first-merchant.ts'
import { apiKey, apiKeyId } from '../../packages/domain/api-keys/api-key.ts'
import { streamName } from '../../packages/kernel/decider.ts'
import { temporaryDirectory, testDatabase } from '../support/postgres.ts'

const atOnce = 4

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

t.test(
  'a file that does not hold the keys is named, and nobody else becomes the first merchant',
  async (t) => {
    const { url, pool } = await testDatabase(t)
    const DATA_DIR = temporaryDirectory(t)
    const file = join(DATA_DIR, 'credentials.json')
    const runtime = await openRuntime(readConfiguration({ POSTGRES_URL: url, DATA_DIR, LOG_LEVEL: 'error' }))
    t.teardown(() => runtime.close())
    const damaged = ['', '{"merchant_id":', 'null', '[]', '"x"', '{"merchant_id":"x"}', '{"sandbox_key":7}']
    for (const text of damaged) {
      writeFileSync(file, text)
      await t.rejects(firstMerchant(runtime, DATA_DIR), { message: /credentials\.json is damaged/ }, text)
      t.equal(readFileSync(file, 'utf8'), text)
    }
    t.equal((await pool.query('select from events')).rowCount, 0)
  },
)

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
