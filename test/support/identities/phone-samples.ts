import { randomInt } from 'node:crypto'
import type { Proven } from './passkey-samples.ts'
import { proof } from './second-factors.ts'
import type { TestService } from '../service.ts'
import { newUser, type SignedIn } from './sign-in.ts'

const auth = '/api/v1/auth'

/** A number that nobody else has. */
export function newPhone(): string {
  return `+22507${String(randomInt(100_000_000)).padStart(8, '0')}`
}

async function idOf(service: TestService, path: string, { body, key = '' }: Proven): Promise<string> {
  const answer = await service.post(`${auth}/${path}`, body, { key })
  if (answer.status >= 300) throw new Error(`POST ${path} answers ${JSON.stringify(answer.body)}`)
  return String(answer.body['id'])
}

const codeOf = (service: TestService, id: string) => service.service.runtime.dependencies.codes.of(id)

/** A change that waits for its code. */
export async function phoneChange(service: TestService, user: SignedIn, phone = newPhone()): Promise<string> {
  const challengeId = await proof(service, user, { purpose: 'change_phone' })
  return idOf(service, 'phone-change/request', { key: user.token, body: { challengeId, newPhone: phone } })
}

/** A challenge of somebody who has not registered, as it was sent or answered too. */
export function emailBefore(service: TestService, email = 'awa@example.com'): Promise<string> {
  return idOf(service, 'pre-signup/email/challenge', { body: { email } })
}

export function phoneBefore(service: TestService, phone = newPhone()): Promise<string> {
  return idOf(service, 'pre-signup/phone/challenge', { body: { phone } })
}

async function answered(service: TestService, challengeId: string): Promise<Proven> {
  return { body: { challengeId, code: await codeOf(service, challengeId) } }
}

/** Operations that take a code which was sent to a telephone, or a proof. */
export const phoneSamples: Readonly<Record<string, (service: TestService) => Promise<Proven>>> = {
  'POST /api/v1/auth/pre-signup/email/verify': async (service) =>
    answered(service, await emailBefore(service)),
  'POST /api/v1/auth/pre-signup/phone/verify': async (service) =>
    answered(service, await phoneBefore(service)),
  'POST /api/v1/auth/change-phone': async (service) => {
    const user = await newUser(service)
    const challengeId = await proof(service, user, { purpose: 'change_phone' })
    return { key: user.token, body: { challengeId, newPhone: newPhone() } }
  },
  'POST /api/v1/auth/phone-change/request': async (service) => ({
    key: (await newUser(service)).token,
    body: { newPhone: newPhone() },
  }),
  'POST /api/v1/auth/phone-change/verify': async (service) => {
    const user = await newUser(service)
    const requestId = await phoneChange(service, user)
    return { key: user.token, body: { requestId, code: await codeOf(service, requestId) } }
  },
  'POST /api/v1/auth/personal-info/sensitive': async (service) => {
    const user = await newUser(service)
    const challengeId = await proof(service, user, { purpose: 'sensitive_update' })
    return { key: user.token, body: { challengeId, newPhone: newPhone() } }
  },
}
