import { user as users } from '../../../packages/domain/users/user.ts'
import { eventually } from '../eventually.ts'
import { created, newDevice, used, type Device, type Options } from './passkeys.ts'
import { proof } from './second-factors.ts'
import type { TestService } from '../service.ts'
import { newUser, type SignedIn } from './sign-in.ts'

export interface Proven {
  readonly body?: Readonly<Record<string, unknown>>
  /** Whose it is, where it is not the usual caller's. */
  readonly key?: string
  readonly user?: SignedIn
  /** Where it is not the operation's, with usual ids. */
  readonly path?: string
}

const passkeys = '/api/v1/auth/passkeys'

/** What the page that users see is to a browser. */
function originOf({ service: { runtime } }: TestService): string {
  return new URL(runtime.configuration.dashboardUrl).origin
}

async function begun(service: TestService, path: string, proven: Proven): Promise<Options> {
  const answer = await service.post(`${passkeys}/${path}/begin`, proven.body, { key: proven.key ?? '' })
  if (answer.status >= 300) throw new Error(`${path} answers ${JSON.stringify(answer.body)}`)
  return answer.body as unknown as Options
}

/** A new passkey of a user: its id, and the device that has it. */
export async function withPasskey(service: TestService, user: SignedIn, body: Proven['body'] = {}) {
  const device = newDevice()
  const answer = await registering(service, { user, device, body })
  const named = { ...answer, nickname: 'Téléphone' }
  const { body: made } = await service.post(`${passkeys}/registration/complete`, named, { key: user.token })
  return { id: String(made['id']), device }
}

interface Registering {
  readonly user: SignedIn
  readonly device: Device
  readonly body?: Proven['body']
}

async function registering(service: TestService, { user, device, body = {} }: Registering) {
  const options = await begun(service, 'registration', { key: user.token, body })
  return { attestationResponse: created(device, options, { origin: originOf(service) }) }
}

/** One of this user's, made when there is none. */
export async function somePasskey(service: TestService, user: SignedIn): Promise<string> {
  const { body } = await service.get<{ data: { id: string }[] }>(passkeys, { key: user.token })
  if (body.data[0]) return body.data[0].id
  const { id } = await withPasskey(service, user)
  await noticesMailed(service, user)
  return id
}

/** A moment after a change the user is told of it, which is noted. */
async function noticesMailed({ service }: TestService, { id }: SignedIn): Promise<void> {
  const { executor } = service.runtime.dependencies
  await eventually(
    async () => (await executor.current(users, id)).state,
    (state) => state.status === 'active' && state.notices.length === 0,
  )
}

async function someone(service: TestService) {
  const user = await newUser(service)
  return { user, key: user.token, ...(await withPasskey(service, user)) }
}

/** Operations that a device answers, or whose user needs a passkey. */
export const passkeySamples: Readonly<Record<string, (service: TestService) => Promise<Proven>>> = {
  'POST /api/v1/auth/passkeys/registration/begin': async (service) => ({
    key: (await newUser(service)).token,
    body: {},
  }),
  'POST /api/v1/auth/passkeys/registration/complete': async (service) => {
    const user = await newUser(service)
    return { key: user.token, user, body: await registering(service, { user, device: newDevice() }) }
  },
  'POST /api/v1/auth/passkeys/login/complete': async (service) => {
    const { device } = await someone(service)
    const options = await begun(service, 'login', { body: {} })
    return { body: { assertionResponse: used(device, options, { origin: originOf(service) }) } }
  },
  'POST /api/v1/auth/passkeys/assertion/begin': async (service) => ({
    key: (await someone(service)).key,
    body: { purpose: 'disable_totp' },
  }),
  'POST /api/v1/auth/passkeys/assertion/complete': async (service) => {
    const { key, device } = await someone(service)
    const options = await begun(service, 'assertion', { key, body: { purpose: 'disable_totp' } })
    return { key, body: { assertionResponse: used(device, options, { origin: originOf(service) }) } }
  },
  'DELETE /api/v1/auth/passkeys/{id}': async (service) => {
    const { user, key, id } = await someone(service)
    const challengeId = await proof(service, user, { purpose: 'remove_passkey' })
    return { key, path: `${passkeys}/${id}?challengeId=${challengeId}` }
  },
}
