import { randomUUID } from 'node:crypto'
import { invitation as invitations } from '../../../packages/domain/invitations/invitation.ts'
import { readState } from '../../../packages/kernel/history.ts'
import type { LinkPurpose } from '../../../packages/domain/users/links.ts'
import { user as users, type ActiveUser } from '../../../packages/domain/users/user.ts'
import { eventually } from '../eventually.ts'
import { googleSamples } from './google-samples.ts'
import { passkeySamples, type Proven } from './passkey-samples.ts'
import { phoneSamples } from './phone-samples.ts'
import { mailedToken } from './mails.ts'
import { challengeFor, proof, totpSetup, withTotp } from './second-factors.ts'
import type { TestService } from '../service.ts'
import { goodPassword, newUser, signIn, type SignedIn } from './sign-in.ts'
import { changeToken, linkToken } from './users.ts'

export type { Proven }

export const newcomer = {
  password: goodPassword,
  name: 'Awa Koné',
  merchantName: 'Boutique Awa',
  country: 'CI',
}

/** Operations whose body proves who somebody is, or that end what the usual caller needs. */
export const proving: Readonly<Record<string, (service: TestService) => Promise<Proven>>> = {
  'POST /api/v1/auth/login': async ({ service: { credentials } }) => ({
    body: { email: credentials.owner_email, password: credentials.owner_password },
  }),
  'POST /api/v1/auth/refresh': async (service) => ({
    body: { refreshToken: (await ownerSession(service)).refreshToken },
  }),
  'POST /api/v1/auth/logout': async (service) => ({ key: (await ownerSession(service)).token }),
  'DELETE /api/v1/auth/sessions': async (service) => ({ key: (await twoSessions(service)).token }),
  'POST /api/v1/auth/verify-email': async (service) => {
    const { id, token: key } = await newUser(service)
    return { key, body: { token: await linkToken(service.service, id, 'verify_email') } }
  },
  'POST /api/v1/auth/verify-email/resend': async (service) => ({ key: (await newUser(service)).token }),
  'POST /api/v1/auth/reset-password': async (service) => {
    const { id, email } = await newUser(service)
    await service.post('/api/v1/auth/forgot-password', { email })
    const token = await newestLink(service, id, 'reset_password')
    return { body: { token, newPassword: otherPassword } }
  },
  'POST /api/v1/auth/change-password': async (service) => {
    const { token: key } = await newUser(service)
    return { key, body: { currentPassword: goodPassword, newPassword: otherPassword } }
  },
  'POST /api/v1/auth/change-password-mfa': async (service) => {
    const user = await newUser(service)
    const challengeId = await proof(service, user, { purpose: 'change_password' })
    return { key: user.token, body: { challengeId, newPassword: otherPassword } }
  },
  'POST /api/v1/auth/change-email': async (service) => {
    const user = await newUser(service)
    const challengeId = await proof(service, user, { purpose: 'change_email' })
    return { key: user.token, body: { challengeId, newEmail: `${randomUUID()}@example.com` } }
  },
  'POST /api/v1/auth/email-change/confirm': async (service) => {
    const user = await newUser(service)
    const token = await changeToken(service.service, user.id, await emailChange(service, user))
    return { key: user.token, body: { token } }
  },
  'POST /api/v1/auth/email-change/cancel': async (service) => {
    const user = await newUser(service)
    const requestId = await emailChange(service, user)
    await atRest(service, user)
    return { key: user.token, body: { requestId } }
  },
  'POST /api/v1/auth/magic-link/verify': async (service) => {
    const { id, email, token: key } = await newUser(service)
    const token = await linkToken(service.service, id, 'verify_email')
    await service.post('/api/v1/auth/verify-email', { token }, { key })
    await service.post('/api/v1/auth/magic-link', { email })
    return { body: { token: await newestLink(service, id, 'magic_link') } }
  },
  'POST /api/v1/auth/email-change/request': async (service) => ({
    key: (await newUser(service)).token,
    body: { newEmail: `${randomUUID()}@example.com` },
  }),
  ...passkeySamples,
  ...googleSamples,
  ...phoneSamples,
  'POST /api/v1/auth/mfa/verify': async (service) => {
    const user = await newUser(service)
    const challengeId = await challengeFor(service, user, 'change_email')
    return { body: { challengeId, code: await service.service.runtime.dependencies.codes.of(challengeId) } }
  },
  'POST /api/v1/auth/mfa/totp/setup': async (service) => ({ key: (await newUser(service)).token, body: {} }),
  'POST /api/v1/auth/mfa/undo': async (service) => {
    const user = await newUser(service)
    await withTotp(service, user)
    return { body: { token: await mailedToken(service.service, user.email, 'undo-factors') } }
  },
  'POST /api/v1/auth/mfa/totp/verify': async (service) => {
    const user = await newUser(service)
    const { secretId, code } = await totpSetup(service, user)
    return { key: user.token, body: { secretId, code } }
  },
  'POST /api/v1/invitations/accept': async (service) => {
    const token = await invitationToken(service, await invitation(service))
    return { body: { token, password: goodPassword, name: 'Ibra Diop' } }
  },
  // Where the session works already, so that its token stays good.
  'POST /api/v1/auth/switch-merchant': async ({ service: { credentials } }) => ({
    body: { merchantId: credentials.merchant_id },
  }),
  'POST /api/v1/organizations/switch': async (service) => {
    const { body } = await service.get('/api/v1/organizations/current')
    return { body: { organizationId: body['id'] } }
  },
  'POST /api/v1/auth/mfa/totp/disable': (service) => provenWithTotp(service, 'disable_totp'),
  'POST /api/v1/auth/mfa/recovery-codes': (service) => provenWithTotp(service, 'recovery_codes'),
}

/** A code of the authenticator was used to turn it on, and none is taken twice. */
async function provenWithTotp(service: TestService, purpose: 'disable_totp' | 'recovery_codes') {
  const user = await newUser(service)
  const { codes } = await withTotp(service, user)
  await atRest(service, user)
  return { key: user.token, body: { challengeId: await proof(service, user, { purpose, code: codes[0]! }) } }
}

/** Mails are on their way, and noted: nothing more happens to the user by itself. */
async function atRest({ service }: TestService, { id }: SignedIn): Promise<void> {
  await eventually(
    async () => {
      const state = await readState(service.runtime.dependencies.store, users, id)
      const { links, emailChange, notices } = state as ActiveUser
      const isMailed = links.verify_email?.isMailed === true && emailChange?.isMailed !== false
      return isMailed && notices.length === 0
    },
    (isNoted) => isNoted,
  )
}

/** A policy requests it a moment after it was asked for. */
async function newestLink(service: TestService, id: string, purpose: LinkPurpose): Promise<string> {
  const found = await eventually(
    () => linkToken(service.service, id, purpose).catch(() => undefined),
    (token) => token !== undefined,
  )
  return found!
}

export async function emailChange(service: TestService, user: SignedIn): Promise<string> {
  // Other samples may have given the user a second factor.
  const challengeId = await proof(service, user, { purpose: 'change_email' })
  const body = { challengeId, newEmail: `${randomUUID()}@example.com` }
  const answer = await service.post('/api/v1/auth/email-change/request', body, { key: user.token })
  return String(answer.body['id'])
}

export async function invitation(service: TestService): Promise<string> {
  const body = { email: `${randomUUID()}@example.com`, role: 'developer' }
  const answer = await service.post('/api/v1/merchant/team/invite', body)
  return String(answer.body['id'])
}

/** What the mail says, without waiting for it. */
export async function invitationToken(
  { service }: { readonly service: Pick<TestService['service'], 'runtime'> },
  id: string,
): Promise<string> {
  const { store, tokens } = service.runtime.dependencies
  const state = await readState(store, invitations, id)
  if (state.status === 'none') throw new Error(`there is no invitation ${id}`)
  const claims = { subject: id, id: state.link, purpose: 'invitation' }
  return tokens.sign('link', claims, new Date(state.expiresAt))
}

const otherPassword = 'encore quatre mots au hasard'

export function ownerSession(service: TestService): Promise<SignedIn> {
  const { owner_email: email, owner_password: password } = service.service.credentials
  return signIn(service, { email, password })
}

/** There is another one to end, and nobody else needs it. */
async function twoSessions(service: TestService): Promise<SignedIn> {
  return signIn(service, await newUser(service))
}
