import { createHash } from 'node:crypto'
import { isListable } from '../../../../infra/http/addresses.ts'
import { isGranted, type Caller } from '../../../../packages/contract/access/callers.ts'
import { refuse, refuseField } from '../../../../packages/contract/refusals.ts'
import { isForUsersOnly } from '../../../../packages/contract/access/roles.ts'
import type { Dependencies, Request } from '../../../../packages/contract/routes.ts'
import type { Static } from '../../../../packages/contract/vocabulary.ts'
import {
  apiKey,
  apiKeyId,
  statusOf,
  type ApiKey,
  type ApiKeyCommands,
  type ExistingApiKey,
} from '../../../../packages/domain/api-keys/api-key.ts'
import {
  viewNewApiKey,
  type ApiKeyRequest,
  type ApiKeyRoll,
  type Issued,
} from '../../../../packages/domain/api-keys/resource.ts'
import { scopes } from '../../../../packages/domain/index.ts'
import { merchant } from '../../../../packages/domain/merchants/merchant.ts'
import { userSessions } from '../../../../packages/domain/sessions/user-sessions.ts'
import { streamName } from '../../../../packages/kernel/decider.ts'
import { actingFor, type Envelope } from '../../../../packages/kernel/envelope.ts'
import type { Outcome } from '../../../../packages/kernel/execution/options.ts'
import { readState } from '../../../../packages/kernel/history.ts'
import type { MerchantOwner } from '../../../../packages/kernel/owner.ts'
import { missingStep } from '../auth/onboarding.ts'
import { signedIn } from '../auth/user-accounts.ts'
import { stepUps } from '../../http/credentials/step-up.ts'

type RequestPart<Body = unknown> = Pick<Request<Body>, 'dependencies' | 'caller' | 'id'>

/** The key belongs to the environment that the body names, whatever the header says. */
export async function issueApiKey(request: Request<Static<typeof ApiKeyRequest>>) {
  const { caller, dependencies, body } = request
  const { name, scopes: granted, expiresAt = null, ipAllowList } = body
  const owner = { merchant: caller.merchant, livemode: body.environment === 'live' }
  const secret = await secretFor(request, owner.livemode)
  const data = { ...secret.stored, name, scopes: granted, addresses: ipAllowList ?? [], expiresAt }
  const id = apiKeyId(secret.stored.hash)
  const { executor } = dependencies
  const known = await executor.current(apiKey, id)
  if (known.state.status === 'none') await requireIssuable(request)
  // An earlier try, whose answer was lost, was allowed to. Another request with its key is none.
  else if (!(await request.hasWritten(streamName(apiKey.category, id))))
    refuse('idempotency_key_must_be_for_one_request')
  const envelope = actingFor(owner, request.envelope)
  const { idempotencyKey, fingerprint } = request.envelope
  const keyed = { ...envelope, ...(idempotencyKey && fingerprint && { idempotencyKey, fingerprint }) }
  const issued = await executor.send(apiKey, id, { type: 'IssueApiKey', data }, keyed)
  request.showed(issued.position)
  await requireOngoing(request, { id, envelope })
  return viewNewApiKey({ id, state: issued.state, key: secret.key, now: dependencies.clock() })!
}

async function requireIssuable(request: Request<Static<typeof ApiKeyRequest>>): Promise<void> {
  const { caller, dependencies, body } = request
  const { environment, expiresAt = null, ipAllowList } = body
  requireKnown(body.scopes)
  requireOwn(caller, body.scopes)
  requireAddresses(ipAllowList ?? [])
  if (expiresAt !== null && new Date(expiresAt) <= dependencies.clock())
    refuseField('request_must_be_valid', '/expiresAt', 'expiresAt must be in the future')
  if (environment === 'live') await requireLive(request, body.challengeId)
}

interface JustIssued {
  readonly id: string
  readonly envelope: Envelope<MerchantOwner>
  /** What the caller is told where the session is over. */
  readonly detail?: string
}

/** Whoever has ended the session meanwhile could not know of this key. A repeat may find it revoked. */
async function requireOngoing(request: RequestPart, { id, envelope, detail }: JustIssued): Promise<void> {
  const { executor } = request.dependencies
  const { user, session } = signedIn(request)
  const [sessions, key] = await Promise.all([
    executor.current(userSessions, user),
    executor.current(apiKey, id),
  ])
  const now = request.dependencies.clock()
  const isActive = key.state.status !== 'none' && statusOf(key.state, now) === 'active'
  if (sessions.state.active.some((one) => one.id === session))
    return isActive ? undefined : refuse('api_key_must_be_active')
  const revoke = { type: 'RevokeApiKey', data: { reason: 'its session had ended' } } as const
  if (isActive) await executor.send(apiKey, id, revoke, envelope)
  refuse('credential_must_not_be_expired', { ...(detail !== undefined && { detail }) })
}

async function requireLive(request: RequestPart, challengeId: string | null | undefined): Promise<void> {
  const { dependencies, caller } = request
  const known = await readState(dependencies.store, merchant, caller.merchant)
  if (known.status === 'none' || !known.isLive) {
    const { user, merchant: works } = signedIn(request)
    const step = await missingStep(dependencies, { user, merchant: works })
    const detail = `Live is not open to this merchant yet: the step ${step} is missing`
    refuse('live_must_be_open_to_the_merchant', { detail })
  }
  await requireProof(request, challengeId)
}

/** What moves real money takes more than a session. */
async function requireProof(
  { dependencies, caller, id: by }: RequestPart,
  challengeId: string | null | undefined,
): Promise<void> {
  const id =
    challengeId ?? refuseField('challenge_must_be_verified', '/challengeId', 'A live key needs a challenge')
  await stepUps(dependencies).consume({ id, purpose: 'api_key', caller, by })
}

// Rolling

/** Who rolls a key sees the new one: so it takes every right that the key has. */
export async function prepareRoll(
  request: Request<Static<typeof ApiKeyRoll>>,
): Promise<ApiKeyCommands['RollApiKey']> {
  const { caller, dependencies, body, params } = request
  const key = await readState(dependencies.store, apiKey, params['id']!)
  if (key.status === 'none') return refuse('resource_must_exist')
  requireOwn(caller, key.scopes)
  const { stored } = await secretFor(request, key.livemode)
  const next = await readState(dependencies.store, apiKey, apiKeyId(stored.hash))
  // A request that was refused after it had rolled a key leaves its Idempotency-Key free.
  if (next.status !== 'none' && key.successor?.hash !== stored.hash)
    refuse('idempotency_key_must_be_for_one_request')
  if (key.livemode) await requireProof(request, body.challengeId)
  return { ...stored, overlapSeconds: body.overlapSeconds ?? 0 }
}

/** What the policy does a moment later, so that the new key can be used at once. */
export async function issueSuccessor(
  request: RequestPart & Pick<Request, 'send' | 'envelope'>,
  { state }: Outcome<ApiKey>,
): Promise<void> {
  const successor = successorOf(state)
  const id = apiKeyId(successor.hash)
  await request.send(apiKey, id, { type: 'IssueApiKey', data: successor })
  const { merchant: works, livemode } = state as ExistingApiKey
  await requireOngoing(request, {
    id,
    envelope: actingFor({ merchant: works, livemode }, request.envelope),
    detail: rolledTooLate,
  })
}

/** The old key may be over by then, and nobody has seen the new one. */
const rolledTooLate =
  'The session ended while the key was replaced, so the new one is revoked: sign in and create a key'

/** The new key, and the secret that follows from the request. */
export async function showSuccessor(request: RequestPart, _id: string, state: ApiKey): Promise<Issued> {
  const { dependencies } = request
  const { hash } = successorOf(state)
  const id = apiKeyId(hash)
  const issued = await readState(dependencies.store, apiKey, id)
  const { key } = await secretFor(request, (state as ExistingApiKey).livemode)
  return { id, state: issued, key, now: dependencies.clock() }
}

function successorOf(state: ApiKey): NonNullable<ExistingApiKey['successor']> {
  const successor = state.status === 'none' ? null : state.successor
  if (!successor) throw new Error('the key was not rolled')
  return successor
}

/** Whether a key has expired depends on when somebody looks. */
export function now({ dependencies }: Pick<Request, 'dependencies'>): Date {
  return dependencies.clock()
}

interface NewSecret {
  readonly key: string
  readonly stored: { readonly hash: string; readonly last4: string }
}

/**
 * It follows from the request and a key of ours: a repeat whose first answer was lost shows the same one, and
 * none is stored.
 */
async function secretFor({ dependencies, caller, id }: RequestPart, livemode: boolean): Promise<NewSecret> {
  const halves = [0, 1].map((half) => secretHalf(dependencies, [caller.merchant, livemode, id, half]))
  const key = `ik_${livemode ? 'live' : 'test'}_${(await Promise.all(halves)).join('')}`
  return { key, stored: { hash: createHash('sha256').update(key).digest('hex'), last4: key.slice(-4) } }
}

/** 122 bits of an HMAC. */
async function secretHalf({ blindIndex }: Dependencies, about: readonly unknown[]): Promise<string> {
  const hmac = await blindIndex(JSON.stringify(['api key', ...about]))
  return Buffer.from(hmac.replaceAll('-', ''), 'hex').toString('base64url')
}

// What a key may be

function requireKnown(asked: readonly string[]): void {
  const index = asked.findIndex((scope) => isForUsersOnly(scope) || !scopes.some((known) => known === scope))
  if (index < 0) return
  const known = scopes.filter((scope) => !isForUsersOnly(scope)).join(', ')
  const message = `${JSON.stringify(asked[index])} is no scope of a key; there are ${known}`
  refuseField('request_must_be_valid', `/scopes/${index}`, message)
}

/** `*` is everything, which only an owner has. Keys of the command line may have it, and none issued here. */
function requireOwn(caller: Caller, asked: readonly string[]): void {
  const isOwner = caller.credential === 'user' && caller.role === 'owner'
  const beyond = asked.find((scope) => !(isOwner && scope === '*') && !isGranted(caller, scope))
  if (beyond === undefined) return
  const detail = `The key may do what you may not: you lack the scope ${beyond}`
  refuse('credential_must_have_the_scope', { detail })
}

function requireAddresses(blocks: readonly string[]): void {
  const index = blocks.findIndex((block) => !isListable(block))
  if (index < 0) return
  const message = `${JSON.stringify(blocks[index])} is neither an address nor a CIDR block`
  refuseField('request_must_be_valid', `/ipAllowList/${index}`, message)
}
