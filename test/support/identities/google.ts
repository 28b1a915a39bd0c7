import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWK } from 'jose'
import Provider, { type Configuration } from 'oidc-provider'
import type { Test } from 'tap'
import { startService, type TestService } from '../service.ts'

const client = { id: 'ikw', secret: 'secret of the tests' }
const baseUrl = 'https://pay.example'

type Claims = Readonly<Record<string, unknown>>

/** What is wrong with ID tokens from now on. */
export interface Forgery {
  readonly claims?: Claims
  /** A key that Google has never published. */
  readonly isForeign?: true
  /** Google answers this status to everything. */
  readonly status?: number
}

/** An OpenID provider on this machine, in Google's place. */
export interface TestGoogle {
  /** Of the service that signs users in with it. */
  readonly settings: Readonly<Record<string, string>>
  /** Where a browser comes back to from the consent URL; without an account, somebody has said no. */
  visit(url: string, account: string | undefined): Promise<URL>
  forge(forgery: Forgery | undefined): void
  close(): void
}

export async function startGoogle(t: Pick<Test, 'teardown'>): Promise<TestGoogle> {
  const keys = { own: await newKey(), foreign: await newKey() }
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const provider = new Provider(issuer, configurationWith(await exportJWK(keys.own)))
  const serve = provider.callback()
  let [forgery, nonce]: readonly [Forgery | undefined, string | null] = [undefined, null]
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    if (request.url!.startsWith('/interaction/')) return void decide(provider, request, response)
    const isForged = forgery?.status !== undefined || request.url === '/token'
    if (!forgery || !isForged) return void serve(request, response)
    const claims = { iss: issuer, nonce, ...forgery.claims }
    const key = forgery.isForeign ? keys.foreign : keys.own
    const { status = 200 } = forgery
    response.writeHead(status, { 'content-type': 'application/json' })
    return void forged(key, claims).then((body) => response.end(body))
  })
  const close = () => void server.close().closeAllConnections()
  t.teardown(close)
  const google: TestGoogle = {
    settings: settingsFor(issuer),
    visit(url, account) {
      nonce = new URL(url).searchParams.get('nonce')
      return followed(url, account ?? '')
    },
    forge: (next) => void (forgery = next),
    close,
  }
  started.set(issuer, google)
  return google
}

const started = new Map<string, TestGoogle>()

/** The one that a service signs users in with. */
export function googleOf({ service: { runtime } }: TestService): TestGoogle {
  const google = started.get(runtime.configuration.google?.issuer ?? '')
  if (!google) throw new Error('this service was started without Google: test/support/identities/google.ts')
  return google
}

/** A service for samples of every operation. */
export async function startServiceWithGoogle(
  t: Test,
  settings: Parameters<typeof startService>[1] = {},
  options: Parameters<typeof startService>[2] = {},
): Promise<TestService> {
  return startService(t, { ...settings, ...(await startGoogle(t)).settings }, options)
}

function settingsFor(issuer: string): TestGoogle['settings'] {
  return {
    GOOGLE_CLIENT_ID: client.id,
    GOOGLE_CLIENT_SECRET: client.secret,
    GOOGLE_ISSUER: issuer,
    BASE_URL: baseUrl,
    DASHBOARD_URL: `${baseUrl}/app`,
  }
}

async function newKey(): Promise<CryptoKey> {
  return (await generateKeyPair('RS256', { extractable: true })).privateKey
}

const keyId = 'one'

function configurationWith(key: JWK): Configuration {
  return {
    clients: [
      {
        client_id: client.id,
        client_secret: client.secret,
        redirect_uris: [`${baseUrl}/api/v1/auth/google/callback`],
        token_endpoint_auth_method: 'client_secret_post',
      },
    ],
    jwks: { keys: [{ ...key, kid: keyId, alg: 'RS256', use: 'sig' } as never] },
    cookies: { keys: ['tests'] },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_, { uid }) => `/interaction/${uid}` },
    claims: { openid: ['sub'], email: ['email', 'email_verified'] },
    // Google's ID tokens have the address.
    conformIdTokenClaims: false,
    findAccount: (_, accountId) => ({
      accountId,
      claims: () => ({ sub: accountId, email: `${accountId}@gmail.example`, email_verified: true }),
    }),
    async loadExistingGrant({ oidc }) {
      const grant = new oidc.provider.Grant({
        clientId: oidc.client!.clientId,
        accountId: oidc.session!.accountId!,
      })
      grant.addOIDCScope('openid email')
      await grant.save()
      return grant
    },
    ttl: { Interaction: 600, Session: 600, Grant: 600, AccessToken: 600, IdToken: 600 },
  }
}

/** The page on which somebody chooses an account, without the page. */
function decide(provider: Provider, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const accountId = String(request.headers['x-account'])
  const result = accountId ? { login: { accountId } } : { error: 'access_denied' }
  return provider.interactionFinished(request, response, result)
}

async function forged(key: CryptoKey, claims: Claims): Promise<string> {
  const now = Math.floor(Date.now() / 1_000)
  const right = { aud: client.id, sub: 'forged', iat: now, exp: now + 600 }
  const token = new SignJWT({ ...right, ...claims }).setProtectedHeader({ alg: 'RS256', kid: keyId })
  return JSON.stringify({ access_token: 'one', token_type: 'Bearer', id_token: await token.sign(key) })
}

/** Until the browser leaves for the service. */
async function followed(start: string, account: string): Promise<URL> {
  const cookies = new Map<string, string>()
  let url = new URL(start)
  for (let step = 0; step < 10; step += 1) {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const response = await fetch(url, { redirect: 'manual', headers: { cookie, 'x-account': account } })
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      cookies.set(name, value)
    }
    const location = response.headers.get('location')
    if (location === null)
      throw new Error(`${url.pathname} answers ${response.status} ${await response.text()}`)
    url = new URL(location, url)
    if (url.origin === baseUrl) return url
  }
  throw new Error('the browser is sent round in circles')
}
