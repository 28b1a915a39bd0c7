import { refuse } from '../../../../packages/contract/refusals.ts'
import type { Request } from '../../../../packages/contract/routes.ts'
import type { Static } from '../../../../packages/contract/vocabulary.ts'
import type {
  MfaStatusResource,
  RecoveryCodesResource,
  TotpBeginning,
  TotpSetupResource,
} from '../../../../packages/domain/users/resources/factor-resources.ts'
import { user, type ActiveUser, type User } from '../../../../packages/domain/users/user.ts'
import { actingFor } from '../../../../packages/kernel/envelope.ts'
import { requireProof } from '../../http/credentials/step-up.ts'
import { recoveryDigest } from './challenges.ts'
import { knownUser, signedIn } from './user-accounts.ts'
import { acknowledged, endBefore, openedLink } from './users.ts'

export function viewFactors(id: string, state: User): Static<typeof MfaStatusResource> | undefined {
  if (state.status !== 'active') return undefined
  const { totp, recovery, passkeys, google } = state
  return {
    id,
    object: 'mfa_status',
    totp_enabled: totp !== null,
    passkeys: passkeys.length,
    google_connected: google !== null,
    google_email: google?.email ?? null,
    recovery_codes_left: recovery?.digests.length ?? 0,
    email_otp: totp === null,
    required_by_merchant: false,
  }
}

/** The secret is shown here and never again. A newer setup takes the place of an unfinished one. */
export async function setUpTotp(
  request: Request<Static<typeof TotpBeginning>>,
): Promise<Static<typeof TotpSetupResource>> {
  const { user: id } = signedIn(request)
  const { dependencies, body } = request
  const known = await knownUser(dependencies, id)
  if (known.totp) refuse('totp_must_be_off')
  // An earlier try whose answer was lost has proved it.
  if (known.setup?.secretId !== request.id)
    await requireProof(request, known, { purpose: 'enable_totp', challengeId: body.challengeId })
  const { email } = known
  const data = { secretId: request.id, secret: dependencies.codes.newSecret() }
  const { state } = await request.send(user, id, { type: 'SetUpTotp', data }, { isWhole: true })
  const { setup } = state as ActiveUser
  if (setup?.secretId !== request.id) return refuse('totp_setup_must_be_the_newest')
  const { secret, expiresAt } = setup
  return {
    object: 'totp_setup',
    secret_id: request.id,
    secret,
    otpauth_url: dependencies.codes.urlOf(email, secret),
    expires_at: expiresAt,
  }
}

export async function enableTotp(request: Request<{ secretId: string; code: string }>) {
  const { user: id } = signedIn(request)
  const { dependencies, body } = request
  const { setup } = await knownUser(dependencies, id)
  const step = setup && (await dependencies.codes.stepOf(setup.secret, body.code))
  if (setup?.secretId === body.secretId && !step) refuse('code_must_be_right')
  const { codes, ...made } = await recoveryCodes(request, id)
  const data = { secretId: body.secretId, step: step ?? 0, ...made }
  const { state } = await request.send(user, id, { type: 'EnableTotp', data })
  return viewRecoveryCodes(state, codes)
}

/** By whoever has the mailbox that was told of a factor: it goes, and so does what was added after it. */
export async function undoFactors(request: Request<{ token: string }>) {
  const { id, claims } = await openedLink(request, 'undo_factors')
  const envelope = actingFor({ user: id }, { ...request.envelope, actor: `user:${id}` })
  const undo = { type: 'UndoFactors', data: { since: String(claims['since']) } } as const
  await request.dependencies.executor.send(user, id, undo, envelope)
  await endBefore(request, id)
  return acknowledged('What was added is removed, and all sessions have ended')
}

/** Shown once. They take the place of all older ones. */
export async function generateRecoveryCodes(request: Request<{ challengeId: string }>) {
  const { user: id } = signedIn(request)
  const { codes, ...data } = await recoveryCodes(request, id)
  const { state } = await request.send(user, id, { type: 'GenerateRecoveryCodes', data }, { isWhole: true })
  return viewRecoveryCodes(state, codes)
}

const codesCount = 10
const half = 5
/** Without letters and digits that look alike. */
const alphabet = 'abcdefghjkmnpqrstuvwxyz23456789'

/** They follow from the request and a key of ours: a repeat shows the same ones, and none is stored. */
async function recoveryCodes({ dependencies, id: batch }: Request<unknown>, user: string) {
  const numbers = Array.from({ length: codesCount }, (_, index) => index)
  const codes = await Promise.all(
    numbers.map(async (index) =>
      codeOf(await dependencies.blindIndex(JSON.stringify(['recovery codes', user, batch, index]))),
    ),
  )
  const digests = await Promise.all(codes.map((code) => recoveryDigest(dependencies, user, code)))
  return { batch, digests, codes }
}

/** Of an HMAC's 122 bits some fifty. */
function codeOf(hmac: string): string {
  let rest = BigInt(`0x${hmac.replaceAll('-', '')}`)
  const letters = Array.from({ length: 2 * half }, () => {
    const letter = alphabet[Number(rest % BigInt(alphabet.length))]!
    rest /= BigInt(alphabet.length)
    return letter
  })
  return `${letters.slice(0, half).join('')}-${letters.slice(half).join('')}`
}

function viewRecoveryCodes(state: User, codes: readonly string[]): Static<typeof RecoveryCodesResource> {
  const { createdAt } = (state as ActiveUser).recovery!
  return { object: 'recovery_codes', codes: [...codes], created_at: createdAt }
}
