import { randomUUID } from 'node:crypto'
import { googleOf } from './google.ts'
import type { Proven } from './passkey-samples.ts'
import type { TestService } from '../service.ts'
import { newUser, type SignedIn } from './sign-in.ts'

const path = '/api/v1/auth/google'

interface Begun {
  readonly url: string
  readonly state: string
}

async function done(service: TestService, way: string, { body, key = '' }: Proven): Promise<Begun> {
  const answer = await service.post(`${path}/${way}`, body, { key })
  if (answer.status >= 300) throw new Error(`POST ${way} answers ${JSON.stringify(answer.body)}`)
  return answer.body as unknown as Begun
}

/** Where Google sends the browser back to. */
async function returned(service: TestService, { url }: Begun, account: string): Promise<string> {
  const { pathname, search } = await googleOf(service).visit(url, account)
  return pathname + search
}

/** What the page then completes it with. */
async function completion(service: TestService, begun: Begun, account: string): Promise<Proven['body']> {
  const { headers } = await service.get(await returned(service, begun, account), { key: '' })
  const code = new URL(headers.get('location')!).searchParams.get('code')!
  return { code, state: begun.state }
}

async function connecting(service: TestService, { token: key }: SignedIn, account: string): Promise<Proven> {
  const begun = await done(service, 'connect', { key, body: {} })
  return { key, body: (await completion(service, begun, account))! }
}

async function connected(service: TestService): Promise<{ key: string; account: string }> {
  const [user, account] = [await newUser(service), `g-${randomUUID()}`]
  await done(service, 'connect/complete', await connecting(service, user, account))
  return { key: user.token, account }
}

/** Operations that begin or end at Google, or whose user must have an account there. */
export const googleSamples: Readonly<Record<string, (service: TestService) => Promise<Proven>>> = {
  'GET /api/v1/auth/google/callback': async (service) => {
    const begun = await done(service, 'login', { body: {} })
    return { path: await returned(service, begun, `g-${randomUUID()}`) }
  },
  'POST /api/v1/auth/google/login/complete': async (service) => {
    const { account } = await connected(service)
    const begun = await done(service, 'login', { body: {} })
    return { body: (await completion(service, begun, account))! }
  },
  'POST /api/v1/auth/google/connect': async (service) => ({ key: (await newUser(service)).token, body: {} }),
  'POST /api/v1/auth/google/connect/complete': async (service) =>
    connecting(service, await newUser(service), `g-${randomUUID()}`),
  'POST /api/v1/auth/google/disconnect': async (service) => ({
    key: (await connected(service)).key,
    body: {},
  }),
}
