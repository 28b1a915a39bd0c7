import { createHash, randomBytes } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Dependencies } from '../../packages/contract/routes.ts'
import { apiKey, apiKeyId } from '../../packages/domain/api-keys/api-key.ts'
import { bookId } from '../../packages/domain/ledger/accounts.ts'
import { book } from '../../packages/domain/ledger/book.ts'
import { merchant } from '../../packages/domain/merchants/merchant.ts'
import { streamName } from '../../packages/kernel/decider.ts'
import type { Envelope } from '../../packages/kernel/envelope.ts'
import { owns, type MerchantOwner } from '../../packages/kernel/owner.ts'
import { alone } from './alone.ts'
import {
  damagedCredentials,
  isComplete,
  keepCredentials,
  keptCredentials,
  type Credentials,
} from './credentials.ts'
import type { Runtime } from './dependencies.ts'
import { firstOwner, isAddressTaken, isOwnerKnown } from './first-owner.ts'
import { DamagedStreamError, type StoredEvent } from '../../packages/kernel/ports.ts'

const fileName = 'credentials.json'

/** Domain model, section 4: play money in minor units, granted to a new merchant in the sandbox. */
const sandboxGrant = { amount: 1_000_000, currency: 'XOF' }

/**
 * The first start creates a merchant, writes its credentials where only their owner can read them, and grants
 * play money. Of several at once, all but one wait, and find the file and the merchant.
 */
export function firstMerchant(
  { postgres, dependencies, configuration }: Pick<Runtime, 'postgres' | 'dependencies' | 'configuration'>,
  dataDirectory: string,
  ending?: AbortSignal,
): Promise<Credentials> {
  const { startWaitSeconds: mostSeconds } = configuration
  const turn = { name: 'first merchant', what: 'sets up the first merchant', mostSeconds, ending }
  return alone({ postgres }, turn, () => setUp(dependencies, join(dataDirectory, fileName)))
}

/** The file is written first: after a crash in between, the next start issues the same keys again. */
async function setUp(dependencies: Dependencies, file: string): Promise<Credentials> {
  const credentials = await credentialsIn(dependencies, file)
  const id = credentials.merchant_id
  const envelope = { merchant: id, livemode: false, actor: 'first start', correlation: dependencies.newId() }
  const details = {
    name: 'First merchant',
    country: 'SN',
    currency: sandboxGrant.currency,
    email: 'merchant@localhost',
  }
  const { executor } = dependencies
  const create = { type: 'CreateMerchant', data: details } as const
  await unlessDamaged(dependencies, () => executor.send(merchant, id, create, envelope))
  for (const [secret, livemode] of [
    [credentials.sandbox_key, false],
    [credentials.live_key, true],
  ] as const)
    await unlessDamaged(dependencies, () => issueKey(dependencies, secret, { ...envelope, livemode }))
  await unlessDamaged(dependencies, () => grant(dependencies, envelope))
  await unlessDamaged(dependencies, () => firstOwner(dependencies, credentials))
  return credentials
}

/** A damaged stream is confined to that stream: it gets nothing more, and everything else starts. */
async function unlessDamaged({ log }: Dependencies, step: () => Promise<unknown>): Promise<void> {
  try {
    await step()
  } catch (error) {
    if (!(error instanceof DamagedStreamError)) throw error
    log.error({ stream: error.stream, error }, 'left as it is')
  }
}

/** What an earlier version has left out is added. */
async function credentialsIn(dependencies: Dependencies, file: string): Promise<Credentials> {
  const kept = keptCredentials(file) ?? {}
  if (!(await isOfOneMerchant(dependencies, kept))) throw damagedCredentials(file)
  if (isComplete(kept)) return kept
  const merchantId = kept.merchant_id ?? dependencies.newId()
  const credentials = {
    merchant_id: merchantId,
    owner_email: `owner-${merchantId.slice(-12)}@example.com`,
    owner_password: randomBytes(15).toString('base64url'),
    sandbox_key: newSecret('ik_test_'),
    live_key: newSecret('ik_live_'),
    ...kept,
  }
  mkdirSync(dirname(file), { recursive: true })
  await keepCredentials(file, credentials)
  return credentials
}

/**
 * Keys of another one are nobody's here, and an owner who is registered has a merchant and a password
 * already.
 */
async function isOfOneMerchant(dependencies: Dependencies, kept: Partial<Credentials>): Promise<boolean> {
  const { merchant_id: id, owner_email: email, sandbox_key: sandboxKey, live_key: liveKey } = kept
  if (id === undefined) return email === undefined || !(await isAddressTaken(dependencies, email))
  for (const [secret, livemode] of [
    [sandboxKey, false],
    [liveKey, true],
  ] as const) {
    const found = secret === undefined ? undefined : await firstOfKey(dependencies, secret)
    if (found && !owns({ merchant: id, livemode }, found.metadata)) return false
  }
  const saysOwner = email !== undefined && kept.owner_password !== undefined
  return saysOwner || !(await isOwnerKnown(dependencies, id))
}

async function firstOfKey({ store }: Dependencies, secret: string): Promise<StoredEvent | undefined> {
  const stream = streamName(apiKey.category, apiKeyId(hashOf(secret)))
  try {
    return (await store.readStream(stream, 0, 1))[0]
  } catch (error) {
    if (error instanceof DamagedStreamError) return undefined
    throw error
  }
}

function hashOf(secret: string): string {
  return createHash('sha256').update(secret).digest('hex')
}

/** 32 random bytes after a prefix that tells kind and environment. */
export function newSecret(prefix: 'ik_test_' | 'ik_live_' | 'ik_app_test_' | 'ik_app_live_'): string {
  return prefix + randomBytes(32).toString('base64url')
}

async function issueKey(
  { executor }: Dependencies,
  secret: string,
  envelope: Envelope<MerchantOwner>,
): Promise<void> {
  const hash = hashOf(secret)
  const data = {
    hash,
    last4: secret.slice(-4),
    name: 'First key',
    scopes: ['*'],
    addresses: [],
    expiresAt: null,
  }
  await executor.send(apiKey, apiKeyId(hash), { type: 'IssueApiKey', data }, envelope)
}

async function grant({ executor, store }: Dependencies, envelope: Envelope<MerchantOwner>): Promise<void> {
  const { merchant: id, livemode } = envelope
  const books = streamName(book.category, bookId(id, livemode, sandboxGrant.currency))
  // The ledger remembers only recent requests, so an old grant is recognised by the existence of its book.
  if ((await store.readStream(books, 0, 1)).length > 0) return
  const subject = { type: 'merchant', id }
  const data = { template: 'sandbox.topup' as const, subject, amount: sandboxGrant.amount }
  await executor.send(
    book,
    bookId(id, livemode, sandboxGrant.currency),
    { type: 'PostEntry', data },
    envelope,
  )
}
