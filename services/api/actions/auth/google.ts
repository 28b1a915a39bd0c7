import { refuse } from '../../../../packages/contract/refusals.ts'
import type { Redirection } from '../../../../packages/contract/lists/pages.ts'
import type { Request } from '../../../../packages/contract/routes.ts'
import type { Static } from '../../../../packages/contract/vocabulary.ts'
import {
  challenge,
  statusOf,
  type IssuedChallenge,
} from '../../../../packages/domain/challenges/challenge.ts'
import { claim, claimedName } from '../../../../packages/domain/claims/claim.ts'
import type {
  GoogleAnswer,
  GoogleBeginning,
  GoogleCompletion,
  GoogleConnection,
  GoogleDisconnection,
  OauthRedirectResource,
} from '../../../../packages/domain/users/resources/google-resources.ts'
import { user, type ActiveUser } from '../../../../packages/domain/users/user.ts'
import { GoogleAwayError, type GoogleAccount } from '../../../../packages/kernel/ports/credentials.ts'
import { streamName } from '../../../../packages/kernel/decider.ts'
import { actingFor } from '../../../../packages/kernel/envelope.ts'
import { readState } from '../../../../packages/kernel/history.ts'
import { claiming } from '../../../composition/claiming.ts'
import { requireProof } from '../../http/credentials/step-up.ts'
import { startSession } from './auth-sessions.ts'
import { answerCeremony, ceremonyEnvelope, issueCeremony, type Wanted } from './ceremonies.ts'
import { issueTo } from './challenges.ts'
import { openCode, returnUrlIn, sealedCode, stateOf, visitOf, withAdded } from './google-visits.ts'
import { viewFactors } from './second-factors.ts'
import { knownUser, signedIn } from './user-accounts.ts'

type Begun = Static<typeof OauthRedirectResource>

// The way there

export async function beginSignIn(request: Request<Static<typeof GoogleBeginning>>): Promise<Begun> {
  const asked = await ask(request)
  return issued(request, asked, { purpose: 'google_login', user: null })
}

/** Who has a second factor shows it first: a stolen token must not make a way in of its own. */
export async function beginConnecting(request: Request<Static<typeof GoogleConnection>>): Promise<Begun> {
  const { user: id } = signedIn(request)
  const state = await knownUser(request.dependencies, id)
  if (state.google) refuse('google_must_not_be_connected_yet')
  const asked = await ask(request)
  const { challengeId } = request.body
  await requireProof(request, state, { purpose: 'google_connect', challengeId })
  return issued(request, asked, { purpose: 'google_linking', user: id, state })
}

type Asked = Pick<Begun, 'url' | 'state'>

/** Nothing is written before Google has said where the browser goes. */
async function ask(request: Request<Static<typeof GoogleBeginning>>): Promise<Asked> {
  const { dependencies, body, id } = request
  const state = await stateOf(dependencies, { id, returnUrl: returnUrlIn(dependencies, body.returnUrl) })
  const { google } = dependencies
  if (!google) {
    const detail = 'Nobody can sign in with Google here: GOOGLE_CLIENT_ID is not set'
    refuse('dependency_must_be_available', { detail, retryAfterSeconds: 60 })
  }
  return { url: await google.consentUrl({ id, state }), state }
}

async function issued(
  request: Request<unknown>,
  asked: Asked,
  wanted: Omit<Wanted, 'method'>,
): Promise<Begun> {
  const { expiresAt } = await issueCeremony(request, { ...wanted, method: 'google' })
  return { object: 'oauth_redirect', ...asked, expires_at: expiresAt }
}

// The way back

/** Proves whose account it is and changes nothing yet: only the page that began can use the code. */
export async function comeBack(
  request: Request<undefined, Static<typeof GoogleAnswer>>,
): Promise<Redirection> {
  const { dependencies, query, client } = request
  const { id, returnUrl } = (await visitOf(dependencies, query.state)) ?? refuse('token_must_be_valid')
  const known = await readState(dependencies.store, challenge, id)
  if (known.status === 'none' || statusOf(known, dependencies.clock()) !== 'pending')
    return refuse('token_must_be_valid')
  const back = (added: Readonly<Record<string, string>>) => ({ location: withAdded(returnUrl, added) })
  if (client.isLooking) return back({})
  if (query.error !== undefined)
    return back({ error: query.error === 'access_denied' ? query.error : 'server_error' })
  const account = await accountOf(request, id)
  if (account === 'away') return back({ error: 'temporarily_unavailable' })
  await answerCeremony(request, { id, known }, account !== undefined)
  return back(account ? { code: sealedCode(dependencies, id, account) } : { error: 'server_error' })
}

async function accountOf(
  { dependencies, query }: Request<undefined, Static<typeof GoogleAnswer>>,
  id: string,
): Promise<GoogleAccount | 'away' | undefined> {
  try {
    const answer = new URLSearchParams(query as Record<string, string>)
    return await dependencies.google?.account({ id, state: query.state! }, answer)
  } catch (error) {
    if (!(error instanceof GoogleAwayError)) throw error
    dependencies.log.warn({ error }, 'nobody can sign in with Google')
    return 'away'
  }
}

// What the page does with the code

/** An address proves nothing here: who has connected the account is signed in, and nobody else. */
export async function completeSignIn(request: Request<Static<typeof GoogleCompletion>>) {
  const { account } = await proved(request, { purpose: 'google_login', user: null })
  const { id, state } = (await holderOf(request, account)) ?? refuse('google_account_must_be_known')
  if (state.totp) return issueTo(request, { purpose: 'sign_in', user: id, state })
  return startSession(request, { id, state }, { method: 'google' })
}

/** Whoever was talked into opening somebody else's consent page has connected nothing. */
export async function completeConnecting(request: Request<Static<typeof GoogleCompletion>>) {
  const { dependencies, envelope } = request
  const { user: id } = signedIn(request)
  if (await request.hasWritten(streamName(user.category, id)))
    return viewFactors(id, await knownUser(dependencies, id))!
  const { account, ...begun } = await proved(request, { purpose: 'google_linking', user: id })
  const { subject, email } = account
  const wanted = [{ kind: 'google', value: subject, refusal: 'google_account_must_be_free' } as const]
  const { state } = await claiming(
    { dependencies, envelope: actingFor({ user: id }, envelope) },
    { category: user.category, id },
    {
      wanted,
      take: (held) =>
        request.send(user, id, { type: 'ConnectGoogle', data: { email, held: [...held], ...begun } }),
    },
  )
  return viewFactors(id, state)!
}

export async function disconnect(request: Request<Static<typeof GoogleDisconnection>>) {
  const { dependencies, body } = request
  const { user: id } = signedIn(request)
  const known = await knownUser(dependencies, id)
  if (await request.hasWritten(streamName(user.category, id))) return viewFactors(id, known)!
  if (!known.google) refuse('google_must_be_connected')
  await requireProof(request, known, { purpose: 'google_disconnect', challengeId: body.challengeId })
  const { state } = await request.send(user, id, { type: 'DisconnectGoogle', data: {} })
  return viewFactors(id, state)!
}

type Expected = Pick<IssuedChallenge, 'purpose' | 'user'>

interface Proved {
  readonly account: GoogleAccount
  /** How often the password had changed when it was begun. */
  readonly from: number
  readonly begunAt: string
}

/** Whose account the code stands for. It is good once, for what was begun, by whom. */
async function proved(
  { dependencies, envelope, body, id: by }: Request<Static<typeof GoogleCompletion>>,
  { purpose, user }: Expected,
): Promise<Proved> {
  const { id } = (await visitOf(dependencies, body.state)) ?? refuse('token_must_be_valid')
  const account = openCode(dependencies, id, body.code) ?? refuse('token_must_be_valid')
  const known = await readState(dependencies.store, challenge, id)
  const isExpected = known.status !== 'none' && known.purpose === purpose && known.user === user
  const isFresh = isExpected && (known.status === 'verified' || isConsumedBy(known, by))
  if (!isFresh) refuse('token_must_be_valid')
  const consume = { type: 'ConsumeChallenge', data: { purpose, by } } as const
  await dependencies.executor.send(challenge, id, consume, ceremonyEnvelope(user, envelope))
  const { passwordChanges: from, issuedAt: begunAt } = known as IssuedChallenge
  return { account, from, begunAt }
}

function isConsumedBy(known: IssuedChallenge, by: string): boolean {
  return known.status === 'consumed' && known.by === by
}

interface Holder {
  readonly id: string
  readonly state: ActiveUser
}

async function holderOf(
  { dependencies: { store, executor, blindIndex } }: Request<unknown>,
  { subject }: GoogleAccount,
): Promise<Holder | undefined> {
  const name = await blindIndex(claimedName('google', subject, { platform: true }))
  const held = await readState(store, claim, name)
  if (held.status === 'free') return undefined
  const { id } = held.holder
  const { state } = await executor.current(user, id)
  return state.status === 'active' && state.google?.claim === name ? { id, state } : undefined
}
