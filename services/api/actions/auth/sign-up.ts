import { countryOf } from '../../../../packages/contract/locale/countries.ts'
import { Refusal, refuseField } from '../../../../packages/contract/refusals.ts'
import type { Dependencies, Request } from '../../../../packages/contract/routes.ts'
import type { Static } from '../../../../packages/contract/vocabulary.ts'
import type { Language } from '../../../../packages/domain/users/events.ts'
import { foundingOf } from '../../../../packages/domain/users/policies.ts'
import type { RegistrationRequest } from '../../../../packages/domain/users/resource.ts'
import { user, type ActiveUser } from '../../../../packages/domain/users/user.ts'
import { actingFor, type Envelope } from '../../../../packages/kernel/envelope.ts'
import type { UserOwner } from '../../../../packages/kernel/owner.ts'
import { claiming, type HeldClaim } from '../../../composition/claiming.ts'
import { consumeProofs, isProved } from './pre-signup.ts'
import { startSession } from './auth-sessions.ts'
import { queueKeysOf, countMail, countRegistration } from './sign-in-guards.ts'
import { wantedAddress, wantedPhone } from './user-accounts.ts'

type Registration = Static<typeof RegistrationRequest>

/** Domain model 5.11 leaves it open: most merchants are in the CFA zone of West Africa. */
const usual = { country: 'SN', currency: 'XOF' }
/** The official language is French; everybody else is written to in English. */
const frenchSpeaking = new Set([
  'BF',
  'BJ',
  'CD',
  'CF',
  'CG',
  'CI',
  'CM',
  'FR',
  'GA',
  'GN',
  'ML',
  'NE',
  'SN',
  'TD',
  'TG',
])

/** A user with a merchant of its own, who can work in the sandbox at once. */
export async function register(request: Request<Registration>) {
  const { dependencies, body, id } = request
  const { email, name, merchantName, password } = body
  const keys = queueKeysOf(request, email)
  dependencies.passwords.requireRoom(keys)
  await countRegistration(request)
  await requireStrong(dependencies, '/password', { password, known: [email, name, merchantName] })
  const proofs = proofsOf(body)
  const verified = await provedBy(dependencies, proofs)
  const country = body.country ?? usual.country
  const registered = {
    email,
    name,
    phone: body.phone ?? null,
    language: languageIn(country),
    password: await dependencies.passwords.hash(password, keys),
    merchant: dependencies.newId(),
    founded: {
      organization: dependencies.newId(),
      name: merchantName,
      country,
      currency: countryOf(country)?.currency ?? usual.currency,
    },
  }
  const envelope = actingFor({ user: id }, { ...request.envelope, actor: `user:${id}` })
  const { executor } = dependencies
  const take = async (held: readonly HeldClaim[]) => {
    await consumeProofs(request, proofs)
    const data = { ...registered, held: [...held], verified }
    return executor.send(user, id, { type: 'RegisterUser', data }, envelope)
  }
  const wanted = wantedBy(body, verified)
  const holder = { category: user.category, id }
  const { state } = await claiming({ dependencies, envelope }, holder, { wanted, take })
  if (!verified.includes('email')) await mailLink(request, envelope)
  await foundAtOnce(request, registered)
  return startSession(request, { id, state: state as ActiveUser }, { method: 'registration' })
}

/** Too many mails keep nobody from registering: the link can be asked for later. */
async function mailLink(request: Request<Registration>, envelope: Envelope<UserOwner>): Promise<void> {
  const { dependencies, body, id } = request
  try {
    await countMail(request, body.email, { purpose: 'verify_email' })
  } catch (error) {
    if (error instanceof Refusal && error.reason === 'rate_must_be_within_the_limit') return
    throw error
  }
  const link = { type: 'RequestEmailVerification', data: { link: dependencies.newId() } } as const
  await dependencies.executor.send(user, id, link, envelope)
}

function proofsOf({ email, phone, emailChallengeId, phoneChallengeId }: Registration) {
  return [
    { what: 'email', id: emailChallengeId, purpose: 'pre_signup_email', address: email },
    { what: 'phone', id: phoneChallengeId, purpose: 'pre_signup_phone', address: phone ?? null },
  ] as const
}

async function provedBy(dependencies: Dependencies, proofs: ReturnType<typeof proofsOf>) {
  const proved: ('email' | 'phone')[] = []
  for (const proof of proofs) if (await isProved(dependencies, proof)) proved.push(proof.what)
  return proved
}

/** An address is its user's alone at once, a number once it is proved. */
function wantedBy({ email, phone }: Registration, verified: readonly ('email' | 'phone')[]) {
  const address = wantedAddress(email)
  return verified.includes('phone') && phone ? [address, wantedPhone(phone)] : [address]
}

interface Founding {
  readonly email: string
  readonly merchant: string
  readonly founded: Parameters<typeof foundingOf>[2]
}

/** What a policy would do a moment later, so that the session can work at once. The play money may follow. */
async function foundAtOnce(
  { dependencies, envelope, id }: Request<Registration>,
  { email, merchant, founded }: Founding,
): Promise<void> {
  const steps = foundingOf(id, { email, merchant }, founded).slice(0, 2)
  for (const { owner, order } of steps) {
    const own = actingFor(owner, { ...envelope, actor: `user:${id}` })
    await dependencies.executor.sendAll(order.decider, order.id, [{ command: order.command, envelope: own }])
  }
}

export function languageIn(country: string): Language {
  return frenchSpeaking.has(country) ? 'fr' : 'en'
}

interface Chosen {
  readonly password: string
  /** What somebody who guesses tries first. */
  readonly known: readonly string[]
}

export async function requireStrong(
  { passwords }: Dependencies,
  pointer: string,
  { password, known }: Chosen,
): Promise<void> {
  const words = known.flatMap((text) => [text, ...text.split(/[\s@.]+/)]).filter(Boolean)
  if (await passwords.isWeak(password, words))
    refuseField(
      'password_must_be_hard_to_guess',
      pointer,
      'This password is easy to guess; take a longer one',
    )
}
