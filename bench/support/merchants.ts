import { createHash } from 'node:crypto'
import { v7 } from 'uuid'
import { readConfiguration } from '../../infra/configuration.ts'
import type { Dependencies } from '../../packages/contract/routes.ts'
import { apiKey, apiKeyId } from '../../packages/domain/api-keys/api-key.ts'
import { bookId } from '../../packages/domain/ledger/accounts.ts'
import { book } from '../../packages/domain/ledger/book.ts'
import { merchant } from '../../packages/domain/merchants/merchant.ts'
import { newSecret } from '../../services/composition/first-merchant.ts'
import { openRuntime, type Runtime } from '../../services/composition/dependencies.ts'
import type { BenchDatabase } from './bench.ts'

/** Creates a merchant with play money and a key with all scopes. */
export interface BenchMerchant {
  readonly id: string
  readonly key: string
}

/** Enough for any number of payouts that a benchmark can make. */
const grantMinor = 1_000_000_000_000

/** The environment of a service under measurement. */
export function environmentOf({
  url,
  dataDirectory,
  eventStore,
}: BenchDatabase): Readonly<Record<string, string>> {
  return {
    PORT: '0',
    DATA_DIR: dataDirectory,
    POSTGRES_URL: url,
    RATE_LIMIT: 'off',
    EGRESS_ALLOW: '127.0.0.0/8',
    LOG_LEVEL: 'warn',
    ...(eventStore && { EVENTSTORE_URL: eventStore.url, EVENTSTORE_PREFIX: eventStore.prefix }),
  }
}

/** Opens the service's adapters in this process, to prepare its data. */
export function openBenchRuntime(database: BenchDatabase): Promise<Runtime> {
  return openRuntime(readConfiguration(environmentOf(database)))
}

export function makeMerchants(dependencies: Dependencies, count: number): Promise<readonly BenchMerchant[]> {
  return Promise.all(Array.from({ length: count }, () => makeMerchant(dependencies)))
}

async function makeMerchant({ executor }: Dependencies): Promise<BenchMerchant> {
  const id = v7()
  const key = newSecret('ik_test_')
  const envelope = { merchant: id, livemode: false, actor: 'bench', correlation: id, isNew: true }
  const details = { name: 'Merchant', country: 'SN', currency: 'XOF', email: 'merchant@localhost' }
  await executor.send(merchant, id, { type: 'CreateMerchant', data: details }, envelope)
  const hash = createHash('sha256').update(key).digest('hex')
  const issued = { hash, last4: key.slice(-4), name: 'Bench', scopes: ['*'], addresses: [], expiresAt: null }
  await executor.send(apiKey, apiKeyId(hash), { type: 'IssueApiKey', data: issued }, envelope)
  const grant = { template: 'sandbox.topup' as const, subject: { type: 'merchant', id }, amount: grantMinor }
  await executor.send(book, bookId(id, false, 'XOF'), { type: 'PostEntry', data: grant }, envelope)
  return { id, key }
}
