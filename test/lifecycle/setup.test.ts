import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { readConfiguration } from '../../infra/configuration.ts'
import { openRuntime } from '../../services/composition/dependencies.ts'
import { firstMerchant, type Credentials } from '../../services/composition/first-merchant.ts'
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
