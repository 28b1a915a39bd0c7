import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'
import { credentialsOf, type CredentialKind } from '../../packages/contract/access/callers.ts'
import { partsOf } from '../../packages/contract/openapi/names.ts'
import { routes } from '../../services/families.ts'
import { readConfiguration } from '../../infra/configuration.ts'
import {
  startService as start,
  type RunningService,
  type ServiceOptions,
} from '../../services/all-in-one/start.ts'
import { testDatabase } from './postgres.ts'
import { signIn } from './identities/sign-in.ts'
import { subscribersToken } from './subscriber.ts'

export interface Answer<Body = Record<string, unknown>> {
  readonly status: number
  readonly headers: Headers
  readonly body: Body
}

export interface CallOptions {
  /** Left out: a sandbox key, or the first merchant's owner or a customer where only such are taken. */
  readonly key?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** Talks to a service as a merchant does. */
export interface MerchantClient {
  readonly url: string
  readonly sandboxKey: string
  readonly liveKey: string
  /** What the process reports on its operators' port. */
  health<Body = Record<string, unknown>>(path: string): Promise<Answer<Body>>
  get<Body = Record<string, unknown>>(path: string, options?: CallOptions): Promise<Answer<Body>>
  post<Body = Record<string, unknown>>(
    path: string,
    body?: unknown,
    options?: CallOptions,
  ): Promise<Answer<Body>>
  call<Body = Record<string, unknown>>(
    method: string,
    path: string,
    body?: unknown,
    options?: CallOptions,
  ): Promise<Answer<Body>>
}

/** A whole service on embedded engines and a database of its own. */
export interface TestService extends MerchantClient {
  readonly service: RunningService
}

/** Starts the service for one test file; it ends with the test. */
export async function startService(
  t: Test,
  environment: Readonly<Record<string, string>> = {},
  options: ServiceOptions = {},
): Promise<TestService> {
  const { url: postgresUrl } = await testDatabase(t, 'started')
  const dataDirectory = mkdtempSync(join(tmpdir(), 'ikw-test-'))
  const configuration = readConfiguration({
    PORT: '0',
    DATA_DIR: dataDirectory,
    POSTGRES_URL: postgresUrl,
    RATE_LIMIT: 'off',
    EGRESS_ALLOW: '127.0.0.0/8',
    LOG_LEVEL: 'error',
    ...environment,
  })
  // Live keys behave like sandbox ones here, except in the test that says otherwise.
  const service = await start(configuration, { simulatesLive: true, ...options })
  t.teardown(async () => {
    await service.close()
    rmSync(dataDirectory, { recursive: true, force: true })
  })
  return { ...clientOf(service), service }
}

/** The environment header goes with the key, unless the test says otherwise. */
export function clientOf({
  port,
  healthPort = 0,
  credentials,
}: Pick<RunningService, 'port' | 'credentials'> & Partial<RunningService>): MerchantClient {
  const url = `http://127.0.0.1:${port}`
  const { sandbox_key: sandboxKey, live_key: liveKey } = credentials
  let owner: Promise<string> | undefined
  let customer: Promise<string> | undefined

  function keyFor(path: string): string | Promise<string> {
    if (isForPortals(path)) return (customer ??= subscribersToken(client))
    if (!isForUsers(path)) return sandboxKey
    const { owner_email: email, owner_password: password } = credentials
    return (owner ??= signIn(client, { email, password }).then(({ token }) => token))
  }

  async function call<Body>(
    method: string,
    path: string,
    body?: unknown,
    { key: given, headers = {} }: CallOptions = {},
  ) {
    const key = given ?? (await keyFor(path))
    const environment = key.includes('_live_') ? 'live' : 'sandbox'
    const response = await fetch(url + path, {
      method,
      redirect: 'manual',
      headers: {
        ...(key && { authorization: `Bearer ${key}`, 'ikw-environment': environment }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    return answerOf<Body>(response)
  }

  const client: MerchantClient = {
    url,
    sandboxKey,
    liveKey,
    call,
    health: async (path) => answerOf(await fetch(`http://127.0.0.1:${healthPort}${path}`)),
    get: (path, options) => call('GET', path, undefined, options),
    post: (path, body, options) => call('POST', path, body, options),
  }
  return client
}

/** Paths whose rows take this kind of credential or none, as patterns. */
function pathsFor(kind: CredentialKind): (path: string) => boolean {
  const patterns = routes
    .filter(
      (route) =>
        credentialsOf(route)
          .filter((taken) => taken !== 'nobody')
          .join() === kind,
    )
    .map((route) => new RegExp(`^${partsOf(route).path.replaceAll(/\{\w+\}/g, '[^/?]+')}(\\?|$)`))
  return (path) => patterns.some((pattern) => pattern.test(path))
}

const isForUsers = pathsFor('user')
const isForPortals = pathsFor('customer_portal')

async function answerOf<Body>(response: Response): Promise<Answer<Body>> {
  const text = await response.text()
  const isJson = /json/.test(response.headers.get('content-type') ?? '')
  return {
    status: response.status,
    headers: response.headers,
    body: (isJson && text ? JSON.parse(text) : text) as Body,
  }
}
