import { createHash, randomUUID } from 'node:crypto'
import { apiKey, apiKeyId } from '../../packages/domain/api-keys/api-key.ts'
import { merchant } from '../../packages/domain/merchants/merchant.ts'
import { newSecret } from '../../services/composition/first-merchant.ts'
import type { TestService } from './service.ts'

export interface KeyOptions {
  /** Left out: the service's first merchant. */
  readonly merchantId?: string
  readonly livemode?: boolean
  readonly scopes: readonly string[]
}

/** A key of its own for one test. */
export async function issueKey(
  { service }: TestService,
  { merchantId, livemode = false, scopes }: KeyOptions,
): Promise<string> {
  const secret = newSecret(livemode ? 'ik_live_' : 'ik_test_')
  const hash = createHash('sha256').update(secret).digest('hex')
  const data = {
    hash,
    last4: secret.slice(-4),
    name: 'Test',
    scopes: [...scopes],
    addresses: [],
    expiresAt: null,
  }
  const envelope = {
    merchant: merchantId ?? service.credentials.merchant_id,
    livemode,
    actor: 'test',
    correlation: hash,
  }
  await service.opened.house.executor.send(apiKey, apiKeyId(hash), { type: 'IssueApiKey', data }, envelope)
  return secret
}

/** A sandbox key of another merchant, which may do everything. */
export async function otherMerchantsKey(service: TestService): Promise<string> {
  const merchantId = randomUUID()
  const envelope = { merchant: merchantId, livemode: false, actor: 'test', correlation: merchantId }
  const details = { name: 'Another merchant', country: 'CI', currency: 'XOF', email: 'another@localhost' }
  await service.service.opened.house.executor.send(
    merchant,
    merchantId,
    { type: 'CreateMerchant', data: details },
    envelope,
  )
  return issueKey(service, { merchantId, scopes: ['*'] })
}
