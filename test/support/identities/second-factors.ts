import { generate } from 'otplib'
import type { ChallengePurpose } from '../../../packages/domain/challenges/challenge.ts'
import type { SignedIn } from './sign-in.ts'
import type { TestService } from '../service.ts'

const mfa = '/api/v1/auth/mfa'

async function done<Body>(
  service: TestService,
  path: string,
  { body, key }: { readonly body?: object; readonly key: string },
): Promise<Body> {
  const answer = await service.post(path, body, { key })
  if (answer.status >= 300) throw new Error(`POST ${path} answers ${JSON.stringify(answer.body)}`)
  return answer.body as Body
}

/** A setup that waits for the code of the new authenticator. */
export async function totpSetup(service: TestService, { token: key }: SignedIn) {
  const setup = await done<{ secret: string; secret_id: string }>(service, `${mfa}/totp/setup`, { key })
  return { secretId: setup.secret_id, secret: setup.secret, code: await totpCode(service, setup.secret) }
}

/** What an authenticator shows, now or so many steps of thirty seconds later. */
export function totpCode(service: TestService, secret: string, stepsLater = 0): Promise<string> {
  const seconds = Math.floor(service.service.runtime.dependencies.clock().getTime() / 1_000)
  return generate({ secret, epoch: seconds + 30 * stepsLater })
}

/** Turns an authenticator on. */
export async function withTotp(service: TestService, user: SignedIn) {
  const { secretId, secret, code } = await totpSetup(service, user)
  const body = { secretId, code }
  const { codes } = await done<{ codes: string[] }>(service, `${mfa}/totp/verify`, { body, key: user.token })
  return { secret, codes }
}

/** A challenge that the user has not answered yet. */
export async function challengeFor(
  service: TestService,
  { token: key }: SignedIn,
  purpose: ChallengePurpose,
): Promise<string> {
  const { id } = await done<{ id: string }>(service, `${mfa}/challenge`, { body: { purpose }, key })
  return id
}

/** A verified challenge: with this code, or with the one that was mailed. */
export async function proof(
  service: TestService,
  user: SignedIn,
  { purpose, code }: { readonly purpose: ChallengePurpose; readonly code?: string },
): Promise<string> {
  const challengeId = await challengeFor(service, user, purpose)
  const given = code ?? (await service.service.runtime.dependencies.codes.of(challengeId))
  await done(service, `${mfa}/verify`, { body: { challengeId, code: given }, key: '' })
  return challengeId
}
