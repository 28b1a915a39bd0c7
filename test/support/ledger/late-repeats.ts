import { randomUUID } from 'node:crypto'
import type { ChallengePurpose } from '../../../packages/domain/challenges/challenge.ts'
import { proving } from '../identities/identity-samples.ts'
import { newPhone } from '../identities/phone-samples.ts'
import { proof, withTotp } from '../identities/second-factors.ts'
import type { TestService } from '../service.ts'
import { newUser, type SignedIn } from '../identities/sign-in.ts'

const auth = '/api/v1/auth'
const organizations = '/api/v1/organizations'

interface Call {
  readonly method?: 'DELETE'
  readonly path: string
  readonly body?: object
}

/** A request of a user, and another one whose effect takes the place of the first one's. */
export interface Replaced {
  /** Left out: the first merchant's owner. */
  readonly key?: string
  readonly first: Call
  /** After the first has had its effect. */
  readonly later: (answer: Readonly<Record<string, unknown>>) => Promise<Call> | Call
}

const otherEmail = () => `${randomUUID()}@example.com`
const otherPassword = () => `${randomUUID()} ${randomUUID()}`

/** Twice the same operation, with another body. */
async function twice(
  service: TestService,
  path: string,
  body: (user: SignedIn) => Promise<object> | object,
): Promise<Replaced> {
  const user = await newUser(service)
  const [first, later] = [await body(user), await body(user)]
  return { key: user.token, first: { path, body: first }, later: () => ({ path, body: later }) }
}

/** Each with a proof of its own. */
function proven(path: string, purpose: ChallengePurpose, body: () => object) {
  return (service: TestService) =>
    twice(service, path, async (user) => ({
      challengeId: await proof(service, user, { purpose }),
      ...body(),
    }))
}

/** Operations whose later requests take the place of earlier ones. */
export const replaced: Readonly<Record<string, (service: TestService) => Promise<Replaced>>> = {
  'a change of the address that waits': (service) =>
    twice(service, `${auth}/email-change/request`, () => ({ newEmail: otherEmail() })),
  'a change of the number that waits': (service) =>
    twice(service, `${auth}/phone-change/request`, () => ({ newPhone: newPhone() })),
  'an authenticator that is set up': (service) => twice(service, `${auth}/mfa/totp/setup`, () => ({})),
  'an address': proven(`${auth}/change-email`, 'change_email', () => ({ newEmail: otherEmail() })),
  'a number': proven(`${auth}/change-phone`, 'change_phone', () => ({ newPhone: newPhone() })),
  'a password': proven(`${auth}/change-password-mfa`, 'change_password', () => ({
    newPassword: otherPassword(),
  })),
  'address, number and password at once': proven(
    `${auth}/personal-info/sensitive`,
    'sensitive_update',
    () => ({ newEmail: otherEmail(), newPhone: newPhone(), newPassword: otherPassword() }),
  ),
  async 'recovery codes'(service) {
    const user = await newUser(service)
    const { codes } = await withTotp(service, user)
    const path = `${auth}/mfa/recovery-codes`
    const [first, later] = [
      { challengeId: await proof(service, user, { purpose: 'recovery_codes', code: codes[0]! }) },
      { challengeId: await proof(service, user, { purpose: 'recovery_codes', code: codes[1]! }) },
    ]
    return { key: user.token, first: { path, body: first }, later: () => ({ path, body: later }) }
  },
  async 'a passkey that is removed'(service) {
    const path = `${auth}/passkeys/registration/complete`
    const { key, body, user } = await proving[`POST ${path}`]!(service)
    return {
      ...{ key: key!, first: { path, body: body! } },
      async later({ id }) {
        const challengeId = await proof(service, user!, { purpose: 'remove_passkey' })
        return { method: 'DELETE', path: `${auth}/passkeys/${String(id)}?challengeId=${challengeId}` }
      },
    }
  },
  async 'where a session works, and the next ones'(service) {
    const { token: key, merchant } = await newUser(service)
    const own = await service.get(`${organizations}/current`, { key })
    const made = { displayName: 'Boutique', country: 'CI', type: 'company' }
    const { body: another } = await service.post(organizations, made, { key })
    const path = `${organizations}/switch`
    const to = (organizationId: unknown) => ({ path, body: { organizationId, persist: true } })
    if (own.body['merchant_id'] !== merchant) throw new Error('the user works elsewhere')
    return { key, first: to(another['id']), later: () => to(own.body['id']) }
  },
  async 'an invitation'() {
    const path = '/api/v1/merchant/team/invite'
    const body = { email: otherEmail(), role: 'developer' }
    return { first: { path, body }, later: () => ({ path, body: { ...body, role: 'analyst' } }) }
  },
}
