import type { Request as HttpRequestIn, Response as HttpResponse } from 'express'
import ipaddr from 'ipaddr.js'
import { refuseField } from '../../../packages/contract/refusals.ts'
import type { Caller, Challenges } from '../../../packages/contract/access/callers.ts'
import type { AnyRoute, Client, Dependencies } from '../../../packages/contract/routes.ts'
import type { Language } from '../../../packages/contract/locale/languages.ts'
import { languages } from '../../../packages/domain/users/events.ts'
import type { Envelope } from '../../../packages/kernel/envelope.ts'
import { requireSubject } from '../kinds/parents.ts'
import { pathParameters, subjectOf, withKind } from '../kinds/prefixes.ts'
import { ownerInEither, ownersOf } from './either-environment.ts'
import { ownerOf, type MerchantOwner, type Owner } from '../../../packages/kernel/owner.ts'
import { answer } from './answer.ts'
import { admit, received, type Admitting } from './credentials/admission.ts'
import type { ClientCountry } from './client-address.ts'
import { createdId, keyOf, type KeyedRequest } from '../kinds/idempotency.ts'
import type { Keyed } from '../kinds/keyed.ts'
import { isLooking } from './previews.ts'
import { ifRevision, isRead, keyHeader, queryParameters } from './input/input.ts'
import { HttpRequest } from './request.ts'
import type { Reply } from './respond.ts'
import type { LastWrites } from '../kinds/writes.ts'

export interface Api extends Admitting {
  readonly dependencies: Dependencies
  readonly challenges: Challenges
  readonly countryOf: ClientCountry
  readonly writes: LastWrites
}

/**
 * What all operations have in common, in the order in which requests are refused; then the row's kind does
 * its work.
 */
export async function handle(
  api: Api,
  route: AnyRoute,
  request: HttpRequestIn,
  response: HttpResponse,
): Promise<Reply> {
  const admitted = await admit(api, { route, request }, response)
  const params = pathParameters(route, request.params as Record<string, string>)
  const query = queryParameters(route, request)
  const { body, caller: known } = await received(api, admitted, { route, request })
  response.locals['form'] = body
  const bound = { ifRevision: ifRevision(route, request) }
  const { caller, owner } = await acting(api, known, { route, params, body, response })
  const { dependencies } = api
  const key = { header: keyHeader(request), caller, owner, params, body }
  const named = await identified(route, dependencies, key)
  const asked = new HttpRequest({
    dependencies,
    caller,
    envelope: envelopeOf({ caller, owner }, response, { asOf: dependencies.executor.position, ...named }),
    ...named,
    path: response.locals['path'] as string,
    findClient: () => clientOf(api, route, request),
    params,
    query,
    body,
    cookie: request.headers.cookie,
    minPosition: minPosition(api, request),
    lastWritten: Math.max(...ownersOf(route, owner).map((each) => api.writes.last(each))),
    subject: subjectOf(route, caller, params),
    ...bound,
  })
  const prepare = () => challenged(api.challenges, route, asked)
  const answering = answer(dependencies, { route, asked, keyed: named.keyed, prepare })
  const reply = await answering.catch((error: unknown) => Promise.reject(withKind(route, params, error)))
  if (asked.revision !== undefined && !reply.replayed) response.setHeader('ETag', `"${asked.revision}"`)
  await tellIndex(api, asked, response)
  if (route.scope !== 'public') await tellPosition(api, { asked, isRead: isRead(request), response })
  return reply
}

/** The id of what the request creates; repeats of its key get the same. */
async function identified(route: AnyRoute, dependencies: Dependencies, asked: KeyedRequest) {
  const key = await keyOf(route, asked, dependencies.blindIndex)
  const id = await createdId(route, dependencies, key?.id ?? dependencies.newId())
  return { id, keyed: key && { ...key, id } }
}

/** What is shown has a leaf in the log as soon as the notary has signed it: a receipt proves it. */
async function tellIndex(
  { dependencies }: Api,
  { shown }: HttpRequest,
  response: HttpResponse,
): Promise<void> {
  const index = shown === undefined ? undefined : await dependencies.logProofs.indexOf(shown)
  if (index !== undefined) response.setHeader('Ikw-Log-Index', index)
}

interface Answered {
  readonly asked: HttpRequest
  readonly isRead: boolean
  readonly response: HttpResponse
}

/** Every answer says which position it reflects, even one that changed nothing or is a repeat. */
async function tellPosition(api: Api, { asked, isRead, response }: Answered): Promise<void> {
  const { store, reads, opaque } = api.dependencies
  const known = Math.max(asked.lastWritten, reads.known)
  const least = asked.position || (isRead ? known || (await reads.position()) : await store.head())
  if (!isRead) api.writes.note(asked.owner, least)
  response.setHeader('Ledger-Position', opaque.seal(least, positionContext))
}

const positionContext = 'position'

function envelopeOf(
  { caller, owner }: Acting,
  { locals }: HttpResponse,
  { keyed, asOf }: { readonly keyed: Keyed | undefined; readonly asOf: number },
): Envelope {
  const request = locals['requestId'] as string
  const traceparent = locals['traceparent'] as string | undefined
  return Object.assign(ownerOf(owner), {
    actor: caller.actor,
    correlation: request,
    request,
    asOf,
    ...(traceparent && { traceparent }),
    ...(caller.credential === 'user' && {
      inSession: { user: caller.user, id: caller.session, endings: caller.endings },
    }),
    ...(keyed && { idempotencyKey: keyed.answerKey.key, fingerprint: keyed.fingerprint }),
  })
}

const deviceLengthMax = 256

function clientOf({ addressOf, countryOf }: Api, { kind }: AnyRoute, request: HttpRequestIn): Client {
  const device = request.headers['user-agent']?.slice(0, deviceLengthMax) ?? null
  const address = addressOf(request)
  const isKnown = address !== undefined && ipaddr.isValid(address)
  const client = {
    address: isKnown ? ipaddr.process(address).toString() : null,
    device,
    country: countryOf(request),
    language: languageOf(request),
  }
  return kind === 'redirect' ? { ...client, isLooking: isLooking(request) } : client
}

function languageOf(request: HttpRequestIn): Language | null {
  const isNamed = request.headers['accept-language'] !== undefined
  return (isNamed && (request.acceptsLanguages([...languages]) as Language | false)) || null
}

interface MatchedCall {
  readonly route: AnyRoute
  readonly params: Readonly<Record<string, string>>
  readonly body: object | undefined
  readonly response: HttpResponse
}

interface Acting {
  readonly caller: Caller
  readonly owner: Owner
}

async function acting(api: Api, caller: Caller, { body, ...matched }: MatchedCall): Promise<Acting> {
  const found = await ownerFor(api, caller, matched)
  const { owner } = found
  // Whoever asks the telephone. Nobody has those of the sandbox.
  const msisdn = 'livemode' in owner && owner.livemode ? matched.route.prompts?.(body as never) : undefined
  if (msisdn) await api.rateLimits.countPrompt(msisdn)
  return found
}

/** A caller without an owner acts for the owner of what the path names, a user for whom the row says. */
async function ownerFor(
  { dependencies, rateLimits }: Api,
  caller: Caller,
  { route, params, response }: Omit<MatchedCall, 'body'>,
): Promise<Acting> {
  if (caller.credential === 'user' && route.owner === 'user') return { caller, owner: { user: caller.user } }
  if (caller.credential === 'user' && route.owner === 'organization' && caller.organization !== null)
    return { caller, owner: { organization: caller.organization } }
  const own = ownerOf(caller as MerchantOwner)
  if (route.environment === 'either')
    return { caller, owner: await ownerInEither(route, { caller, params, dependencies }) }
  if (caller.credential !== 'nobody' || !route.actsFor) return { caller, owner: own }
  const known = await route.actsFor({ params, dependencies })
  const owner = ownerOf(known)
  // Strangers at many addresses share the limit of the account whose page it is.
  await rateLimits.count({ account: owner }, response)
  const { actor = caller.actor } = known
  return { caller: 'merchant' in owner ? { ...caller, ...owner, actor } : caller, owner }
}

/** A challenge is consumed by the request that needs it, not by repeats of that request. */
async function challenged(challenges: Challenges, route: AnyRoute, asked: HttpRequest): Promise<void> {
  const { challenge: purpose, decider } = route
  if (purpose === undefined) return
  const { body, caller, id: by } = asked
  const { challengeId: id } = (body ?? {}) as { readonly challengeId?: string }
  if (id === undefined) return refuseField('request_must_be_valid', '/challengeId', 'challengeId is required')
  // What is not as it was seen costs no proof.
  if (decider && asked.ifRevision !== undefined) await requireSubject(route, asked)
  await challenges.consume({ id, purpose, caller, by })
}

function minPosition({ dependencies }: Api, request: HttpRequestIn): number | undefined {
  const text = request.headers['min-position'] as string | undefined
  if (text === undefined) return undefined
  const message = 'Min-Position is no Ledger-Position that was answered'
  return (
    dependencies.opaque.open(text, positionContext) ??
    refuseField('request_must_be_valid', 'header:Min-Position', message)
  )
}
