import { createHash, randomUUID } from 'node:crypto'
import { apiKey, apiKeyId } from '../../packages/domain/api-keys/api-key.ts'
import { merchant } from '../../packages/domain/merchants/merchant.ts'
import { newSecret } from '../../services/composition/first-merchant.ts'
import type { TestService } from './service.ts'

export interface KeyOptions {
  /** Default: the service's first merchant. */
  readonly merchantId?: string
  readonly livemode?: boolean
  readonly scopes: readonly string[]
  /** CIDR blocks that may use it; default: all. */
  readonly addresses?: readonly string[]
  readonly expiresAt?: string
  /** A token of an application. */
  readonly isApp?: boolean
}

/** The id under which a key is revoked. */
export function idOfKey(secret: string): string {
  return apiKeyId(hashOf(secret))
}

function hashOf(secret: string): string {
  return createHash('sha256').update(secret).digest('hex')
}

/** A key for one test. */
export async function issueKey(
  { service }: TestService,
  { merchantId, livemode = false, scopes, addresses = [], expiresAt, isApp = false }: KeyOptions,
): Promise<string> {
  const secret = newSecret(`ik_${isApp ? 'app_' : ''}${livemode ? 'live' : 'test'}_` as const)
  const hash = hashOf(secret)
  const data = {
    hash,
    last4: secret.slice(-4),
    name: 'Test',
    scopes: [...scopes],
    addresses: [...addresses],
    expiresAt: expiresAt ?? null,
  }
  const envelope = {
    merchant: merchantId ?? service.credentials.merchant_id,
    livemode,
    actor: 'test',
    correlation: hash,
  }
  await service.runtime.dependencies.executor.send(
    apiKey,
    apiKeyId(hash),
    { type: 'IssueApiKey', data },
    envelope,
  )
  return secret
}

/** A sandbox key of another merchant, with all scopes. */
export async function otherMerchantsKey(
  service: TestService,
  merchantId: string = randomUUID(),
): Promise<string> {
  const envelope = { merchant: merchantId, livemode: false, actor: 'test', correlation: merchantId }
  const details = { name: 'Another merchant', country: 'CI', currency: 'XOF', email: 'another@localhost' }
  await service.service.runtime.dependencies.executor.send(
    merchant,
    merchantId,
    { type: 'CreateMerchant', data: details },
    envelope,
  )
  return issueKey(service, { merchantId, scopes: ['*'] })
}
