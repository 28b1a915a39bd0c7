import { refuse, refuseField } from '../../../../packages/contract/refusals.ts'
import type { Request, Slice } from '../../../../packages/contract/routes.ts'
import { unixSeconds, type Static } from '../../../../packages/contract/vocabulary.ts'
import { stepUpPurposes } from '../../../../packages/domain/challenges/challenge.ts'
import type { PasskeyProofRequest } from '../../../../packages/domain/challenges/resource.ts'
import { claim, claimedName } from '../../../../packages/domain/claims/claim.ts'
import type {
  PasskeyAnswer,
  PasskeyCreation,
  PasskeyRegistration,
  PasskeyResource,
  PasskeySignIn,
  WebauthnOptionsResource,
} from '../../../../packages/domain/users/resources/passkey-resources.ts'
import type { Passkey } from '../../../../packages/domain/users/passkeys.ts'
import { user, type ActiveUser, type User } from '../../../../packages/domain/users/user.ts'
import type { PasskeyId } from '../../../../packages/kernel/ports/credentials.ts'
import { actingFor } from '../../../../packages/kernel/envelope.ts'
import { streamName } from '../../../../packages/kernel/decider.ts'
import { readState } from '../../../../packages/kernel/history.ts'
import { claiming } from '../../../composition/claiming.ts'
import { requireProof } from '../../http/credentials/step-up.ts'
import { startSession } from './auth-sessions.ts'
import { answerIn, ceremonyOf, conclude, issueCeremony } from './ceremonies.ts'
import { viewChallenge } from './challenges.ts'
import { isOfNobody, listedPasskeys } from './listed-passkeys.ts'
import { knownUser, signedIn, userOf } from './user-accounts.ts'

const byDevice = { method: 'passkey' } as const

// Registering

/** Who has another second factor shows it first: a stolen token must not make a way in of its own. */
export async function beginRegistration(request: Request<Static<typeof PasskeyCreation>>) {
  const { user: id } = signedIn(request)
  const state = await knownUser(request.dependencies, id)
  const proof = { purpose: 'passkey_registration', challengeId: request.body.challengeId } as const
  await requireProof(request, state, proof)
  await issueCeremony(request, { purpose: 'passkey_creation', ...byDevice, user: id, state })
  const { email, name, passkeys: known } = state
  const made = await request.dependencies.passkeys.creation(request.id, { user: id, email, name, known })
  return options(request.id, made)
}

export async function completeRegistration(request: Request<Static<typeof PasskeyRegistration>>) {
  const { dependencies, body, id: passkey } = request
  const { user: id } = signedIn(request)
  const done = (await knownUser(dependencies, id)).passkeys.find((one) => one.id === passkey)
  if (done) return viewPasskey(done)
  // It was registered by this request, and removed since.
  if (await request.hasWritten(streamName(user.category, id))) return refuse('resource_must_exist')
  const answer = answerIn(body.attestationResponse, '/attestationResponse')
  const ceremony = await ceremonyOf(request, answer, { purposes: ['passkey_creation'], user: id })
  const created = await dependencies.passkeys.created(ceremony.id, answer)
  await conclude(request, ceremony, created !== undefined)
  const registered = { passkey, ...created!, nickname: body.nickname ?? null }
  const { credential } = registered
  if (await isOfNobody(dependencies, credential)) await refuseAsTaken(request, credential)
  const envelope = actingFor({ user: id }, request.envelope)
  const wanted = [{ kind: 'passkey', value: credential, refusal: 'passkey_must_be_new' } as const]
  const { state } = await claiming(
    { dependencies, envelope },
    { category: user.category, id },
    {
      wanted,
      take: (held) => {
        const { passwordChanges: from, issuedAt: begunAt } = ceremony.known
        const data = { ...registered, transports: [...registered.transports], held: [...held], from, begunAt }
        return request.send(user, id, { type: 'RegisterPasskey', data })
      },
    },
  )
  return viewPasskey(own(state as ActiveUser, passkey))
}

/** One that is listed for an address and nobody has: as much is read as for one that somebody has. */
async function refuseAsTaken({ dependencies }: Request<unknown>, credential: string): Promise<never> {
  const name = claimedName('passkey', credential, { platform: true })
  await dependencies.executor.current(claim, await dependencies.blindIndex(name))
  return refuse('passkey_must_be_new')
}

// Signing in

/**
 * For an address the answer looks alike whether or not somebody has it, and takes as long: the challenge is
 * written meanwhile, which takes longer than looking.
 */
export async function beginSignIn(request: Request<Static<typeof PasskeySignIn>>) {
  const { dependencies, body, id } = request
  const known = body.email ? passkeysOf(request, body.email) : []
  const issuing = issueCeremony(request, { purpose: 'passkey_login', ...byDevice, user: null })
  const [listed] = await Promise.all([known, issuing])
  return options(id, await dependencies.passkeys.request(id, listed))
}

function passkeysOf({ dependencies }: Request<unknown>, email: string): Promise<readonly PasskeyId[]> {
  const known = userOf(dependencies, email).then((found) => found?.state.passkeys ?? [])
  return listedPasskeys(dependencies, email, known)
}

/** Has two factors in one, so no other is asked for, and no number of wrong passwords locks it. */
export async function completeSignIn(request: Request<Static<typeof PasskeyAnswer>>) {
  const answer = answerIn(request.body.assertionResponse, '/assertionResponse')
  const ceremony = await ceremonyOf(request, answer, { purposes: ['passkey_login'], user: null })
  const holder = await holderOf(request, answer)
  const isRight = holder !== undefined && (await isUsed(request, holder, { id: ceremony.id, answer }))
  await conclude(request, ceremony, isRight)
  return startSession(request, holder!, { method: 'passkey' })
}

interface Holder {
  readonly id: string
  readonly state: ActiveUser
}

async function holderOf({ dependencies }: Request<unknown>, answer: object): Promise<Holder | undefined> {
  const { store, executor, blindIndex } = dependencies
  const name = claimedName('passkey', credentialIn(answer), { platform: true })
  const held = await readState(store, claim, await blindIndex(name))
  if (held.status !== 'kept') return undefined
  const { id } = held.holder
  const { state } = await executor.current(user, id)
  return state.status === 'active' ? { id, state } : undefined
}

function credentialIn(answer: object): string {
  const { id } = answer as { readonly id?: unknown }
  return typeof id === 'string' ? id : ''
}

interface Using {
  readonly id: string
  readonly answer: object
}

/** Whether the answer is right for a key of this user, whose use is then noted. */
async function isUsed(
  request: Request<unknown>,
  { id: userId, state }: Holder,
  { id, answer }: Using,
): Promise<boolean> {
  const { passkeys, executor } = request.dependencies
  const known = state.passkeys.find(({ credential }) => credential === credentialIn(answer))
  const used = known && (await passkeys.used(id, answer, known))
  if (!used) return false
  const own = actingFor({ user: userId }, { ...request.envelope, actor: `user:${userId}` })
  const use = { type: 'UsePasskey', data: { passkey: known.id, ...used } } as const
  await executor.send(user, userId, use, own)
  return true
}

// Step-up

export async function beginProof(request: Request<Static<typeof PasskeyProofRequest>>) {
  const { dependencies, body, id } = request
  const { user: userId } = signedIn(request)
  const purpose = body.purpose ?? refuseField('request_must_be_valid', '/purpose', 'purpose is required')
  const state = await knownUser(dependencies, userId)
  if (state.passkeys.length === 0) refuse('passkey_must_be_registered')
  await issueCeremony(request, { purpose, ...byDevice, user: userId, state })
  return options(id, await dependencies.passkeys.request(id, state.passkeys))
}

export async function completeProof(request: Request<Static<typeof PasskeyAnswer>>) {
  const { dependencies, body } = request
  const { user: userId } = signedIn(request)
  const answer = answerIn(body.assertionResponse, '/assertionResponse')
  const ceremony = await ceremonyOf(request, answer, { purposes: stepUpPurposes, user: userId })
  if (ceremony.known.status === 'verified')
    return viewChallenge(ceremony.id, ceremony.known, dependencies.clock())
  const holder = { id: userId, state: await knownUser(dependencies, userId) }
  const isRight = await isUsed(request, holder, { id: ceremony.id, answer })
  const verified = await conclude(request, ceremony, isRight)
  return viewChallenge(ceremony.id, verified, dependencies.clock())
}

// Looking after them

export async function passkeyItems(request: Request): Promise<Slice<Static<typeof PasskeyResource>>> {
  const { passkeys } = await knownUser(request.dependencies, signedIn(request).user)
  return { data: passkeys.map(viewPasskey).toReversed() }
}

export function viewNamedPasskey(_: string, state: User, named: string) {
  const found = state.status === 'active' && state.passkeys.find(({ id }) => id === named)
  return found ? viewPasskey(found) : undefined
}

export async function removePasskey(request: Request<undefined, { challengeId?: string }>) {
  const passkey = request.params['id']!
  const { user: id } = signedIn(request)
  const removed = { id: passkey, object: 'passkey' as const, deleted: true as const }
  if (await request.hasWritten(streamName(user.category, id))) return removed
  const state = await knownUser(request.dependencies, id)
  own(state, passkey)
  const { challengeId } = request.query
  await requireProof(request, state, { purpose: 'remove_passkey', challengeId })
  await request.send(user, id, { type: 'RemovePasskey', data: { passkey } })
  return removed
}

function own({ passkeys }: ActiveUser, id: string): Passkey {
  return passkeys.find((one) => one.id === id) ?? refuse('resource_must_exist')
}

function options(challenge_id: string, public_key: object): Static<typeof WebauthnOptionsResource> {
  return { object: 'webauthn_options', challenge_id, public_key }
}

function viewPasskey(passkey: Passkey): Static<typeof PasskeyResource> {
  const { id, createdAt, nickname, transports, isBackupEligible, isBackedUp, usedAt } = passkey
  return {
    id,
    object: 'passkey',
    livemode: false,
    created: unixSeconds(createdAt),
    nickname,
    transports,
    backup_eligible: isBackupEligible,
    backed_up: isBackedUp,
    last_used_at: usedAt,
  }
}
