import { hash } from 'node:crypto'
import { derivedId } from '../../../packages/contract/identity.ts'
import { Refusal, refusals, refuse, refuseField } from '../../../packages/contract/refusals.ts'
import { credentialsOf, type Caller } from '../../../packages/contract/access/callers.ts'
import type { AnyRoute, Dependencies } from '../../../packages/contract/routes.ts'
import { streamName, type AnyDecider } from '../../../packages/kernel/decider.ts'
import { foldStored } from '../../../packages/kernel/history.ts'
import type { BlindIndex } from '../../../packages/kernel/blind-index.ts'
import type { EventStore, StoredEvent } from '../../../packages/kernel/ports.ts'
import type { Answer, Answers } from '../../../packages/kernel/ports/reads.ts'
import { ownerText, type Owner } from '../../../packages/kernel/owner.ts'
import { canonicalJson } from '../../../infra/transparency/canonical-json.ts'
import { isOf, type Keyed } from './keyed.ts'
import type { Found } from './viewed.ts'

const requests = '8e0b9a4c-63c5-5a1f-9d38-3c1a5d6f7b20'
const visibleAscii = /^[\x21-\x7e]{1,255}$/

export interface KeyedRequest {
  readonly header: string | undefined
  readonly caller: Caller
  readonly owner: Owner
  readonly params: Readonly<Record<string, string>>
  readonly body: unknown
}

/** A request's key, from its header or body; `undefined` when it has none. */
export async function keyOf(
  route: AnyRoute,
  { header, caller, owner, params, body }: KeyedRequest,
  blindIndex: BlindIndex,
): Promise<Keyed | undefined> {
  const key = givenKey(header, body)
  if (key === undefined) {
    if (route.idempotency === 'required in live' && caller.livemode)
      refuse('live_payout_must_have_an_idempotency_key')
    return undefined
  }
  const scope = scopeOf(route, caller, params)
  if (scope === undefined) return undefined
  const operation = keyedOperation(route) + scope
  const request = canonicalJson({ params, body: body ?? null })
  return {
    answerKey: Object.assign({}, owner, { operation, key }),
    fingerprint: await blindIndex(`request ${request}`),
    olderFingerprint: () => hash('sha256', request),
    id: keyedId(owner, operation, key),
  }
}

/** Whether a key of its callers means anything. */
export function takesIdempotencyKeys(route: AnyRoute): boolean {
  return credentialsOf(route).some((credential) => credential !== 'nobody') || hasOwnKeys(route)
}

/** Strangers have keys where they have a token, and are told no credential twice. */
function hasOwnKeys({ token, showsSecret }: AnyRoute): boolean {
  return token !== undefined && !showsSecret
}

/**
 * Added to the operation: a stranger's keys are scoped by the token that only that stranger knows. Without a
 * token there are no keys: others could guess them, and a credential is shown only once. Where a secret is
 * shown, so are a user's: another user of the merchant may have fewer rights. So are those of customers.
 */
function scopeOf(route: AnyRoute, caller: Caller, params: KeyedRequest['params']): string | undefined {
  if (caller.credential === 'user' && route.showsSecret) return ` ${caller.actor}`
  if (caller.credential === 'customer_portal') return ` ${caller.customer}`
  if (caller.credential !== 'nobody') return ''
  const token = route.token && params[route.token]
  return token && hasOwnKeys(route) ? ` ${hash('sha256', token)}` : undefined
}

/** A client that sends one key to both twin operations wants one thing. */
export function keyedOperation({ operation, twinOf = operation }: AnyRoute): string {
  return twinOf
}

/** The id of what a keyed request creates. */
export function keyedId(owner: Owner, operation: string, key: string): string {
  return derivedId(requests, `${ownerText(owner)} ${operation} ${key}`)
}

/** Where strangers may open what a row creates, its id follows from the usual one only for us. */
export async function createdId(
  { secretId, operation }: AnyRoute,
  { blindIndex }: Pick<Dependencies, 'blindIndex'>,
  id: string,
): Promise<string> {
  return secretId ? blindIndex(JSON.stringify(['created', operation, id])) : id
}

function givenKey(header: string | undefined, body: unknown): string | undefined {
  const fields = (body ?? {}) as { idempotencyKey?: string | null; idempotency_key?: string | null }
  const field = fields.idempotencyKey ?? fields.idempotency_key ?? undefined
  if (header !== undefined && !visibleAscii.test(header)) {
    refuseField(
      'request_must_be_valid',
      'header:Idempotency-Key',
      'Idempotency-Key must be 1 to 255 visible ASCII characters',
    )
  }
  if (header !== undefined && field !== undefined && header !== field) {
    refuseField(
      'request_must_be_valid',
      'header:Idempotency-Key',
      'Idempotency-Key differs from the key in the body',
    )
  }
  return header ?? field
}

/** The stream that a row starts with the request's own id, which reveals a repeat. */
export function startedStream(route: AnyRoute): StartedStream | undefined {
  if (route.creates) return route.creates
  if (route.kind !== 'create' || route.identity || route.showsSecret) return undefined
  const { view, beside, prepare, comesFirst = () => prepare === undefined } = route
  return { decider: route.decider!, view: view!, beside, comesFirst }
}

interface StartedStream extends Pick<AnyRoute, 'beside' | 'comesFirst'> {
  readonly decider: AnyDecider
  readonly view: NonNullable<AnyRoute['view']>
}

interface StartedIn extends Pick<StartedStream, 'decider'> {
  readonly store: EventStore
}

/**
 * What the first request with this key has started, as that request left it; `undefined` when it has started
 * nothing. No answer is stored, so the stream can never be started twice, however late the repeat.
 */
export async function startedBefore(keyed: Keyed, { store, decider }: StartedIn): Promise<Found | undefined> {
  const { answerKey, id } = keyed
  const events = await store.readStream(streamName(decider.category, id), 0)
  if (events[0]?.metadata.idempotencyKey !== answerKey.key) return undefined
  if (!isOf(keyed, events[0].metadata.fingerprint)) refuse('idempotency_key_must_be_for_one_request')
  // Another request may also have used the key, for a later change of the same stream.
  const isOther = ({ metadata }: StoredEvent) =>
    metadata.idempotencyKey !== answerKey.key || !isOf(keyed, metadata.fingerprint)
  const later = events.findIndex(isOther)
  return { id, state: foldStored(decider, later < 0 ? events : events.slice(0, later)) }
}

/** Carries out a keyed request that starts no stream of its own, or repeats the answer of its first try. */
export async function answeredOnce(
  answers: Answers,
  keyed: Keyed,
  work: (isResumed: boolean) => Promise<Answer>,
): Promise<Answer & { replayed: boolean }> {
  const begun = await answers.begin(keyed.answerKey, keyed.fingerprint)
  const isOther = begun.state === 'other_request'
  const known = isOther ? await answers.begin(keyed.answerKey, keyed.olderFingerprint()) : begun
  if (known.state === 'other_request') refuse('idempotency_key_must_be_for_one_request')
  if (known.state === 'running') refuse('idempotent_request_must_have_ended', { retryAfterSeconds: 1 })
  if (known.state === 'done') return { ...known.answer, replayed: true }
  let answer: Answer
  try {
    answer = await work(known.isResumed)
  } catch (error) {
    // Refusals are not stored. A failure may have had its effect.
    const isRefused = error instanceof Refusal && refusals[error.reason][0] < 500
    await (isRefused ? answers.abandon(keyed.answerKey) : answers.release(keyed.answerKey))
    throw error
  }
  await answers.finish(keyed.answerKey, answer)
  return { ...answer, replayed: false }
}
