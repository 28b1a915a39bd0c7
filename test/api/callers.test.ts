import t from 'tap'
import { randomUUID } from 'node:crypto'
import type { Caller, CredentialKind } from '../../packages/contract/access/callers.ts'
import { credentialsOf, portalPermissions } from '../../packages/contract/access/callers.ts'
import { Refusal } from '../../packages/contract/refusals.ts'
import { perform, type AnyRoute } from '../../packages/contract/routes.ts'
import { nullable, record, Type } from '../../packages/contract/vocabulary.ts'
import type { Authenticator } from '../../services/api/http/credentials/credentials.ts'
import { startApi } from '../../services/api/main.ts'
import { routes } from '../../services/families.ts'
import { partsOf } from '../../packages/contract/openapi/names.ts'
import { issueKey } from '../support/credentials.ts'
import { lawOver } from '../support/law.ts'
import { namesResource, sample, unknownSample } from '../support/samples.ts'
import {
  clientOf,
  startService,
  type Answer,
  type MerchantClient,
  type TestService,
} from '../support/service.ts'

/** All kinds: of people, each caller is spelled in the credential itself. */
const others = ['user', 'customer_portal'] as const
const kinds = ['api_key', 'app_token', ...others] as const satisfies readonly CredentialKind[]
const shown = {
  user: { user: randomUUID(), session: randomUUID(), organization: 'o', role: 'owner', scopes: ['*'] },
  customer_portal: { session: randomUUID(), customer: 'c', permissions: portalPermissions },
} as const

function credential(kind: (typeof others)[number], merchant: string, livemode: boolean): string {
  return [kind, merchant, livemode].join(' ')
}

const issued = new Map<string, Promise<string>>()

/** Of this kind, for this merchant and environment. */
function credentialOf(kind: (typeof kinds)[number], merchantId: string, livemode: boolean): Promise<string> {
  if (kind === 'user' || kind === 'customer_portal')
    return Promise.resolve(credential(kind, merchantId, livemode))
  const name = [kind, merchantId, livemode].join()
  const isApp = kind === 'app_token'
  const key = issued.get(name) ?? issueKey(service, { merchantId, livemode, scopes: ['*'], isApp })
  issued.set(name, key)
  return key
}

const authenticator: Authenticator = {
  recognises: (authorization) => others.some((kind) => authorization.startsWith(`Bearer ${kind} `)),
  async authenticate({ authorization }) {
    const [, kind, merchant, livemode] = authorization!.split(' ') as [
      string,
      (typeof others)[number],
      string,
      string,
    ]
    return {
      credential: kind,
      merchant,
      livemode: livemode === 'true',
      actor: kind,
      ...shown[kind],
    } as Caller
  },
}

const CallerView = record({
  id: Type.String(),
  credential: Type.String(),
  merchant: Type.String(),
  key: nullable(Type.String()),
})
const purpose = 'change_payout_destination'
const consumed = new Set<string>()
const tokens: Readonly<Record<string, string>> = { first: randomUUID(), second: randomUUID() }

const common = {
  summary: 'Test',
  returns: CallerView,
  action: async ({
    caller,
    id,
    envelope,
  }: {
    caller: Caller
    id: string
    envelope: { idempotencyKey?: string }
  }) => ({
    id,
    credential: caller.credential,
    merchant: caller.merchant,
    key: envelope.idempotencyKey ?? null,
  }),
}
const challengeBody = record({ challengeId: Type.Optional(Type.String()) })
const actsFor: NonNullable<AnyRoute['actsFor']> = async ({ params }) => {
  const merchant = tokens[params['token']!]
  if (!merchant) throw new Refusal('resource_must_exist')
  return { merchant, livemode: false }
}
const table = [
  perform('POST /test/for-users', { ...common, scope: 'payouts.write', credentials: ['user'] }),
  perform('POST /test/for-both', { ...common, scope: 'payouts.write', credentials: ['user', 'api_key'] }),
  perform('POST /test/challenged', {
    ...common,
    scope: 'payouts.write',
    credentials: ['user'],
    body: challengeBody,
    challenge: purpose,
  }),
  perform('POST /test/pages/{token}', { ...common, scope: 'public', actsFor, token: 'token' }),
  perform('POST /test/strangers', { ...common, scope: 'public' }),
  perform('POST /test/sign-in/{token}', {
    ...common,
    scope: 'public',
    actsFor,
    token: 'token',
    showsSecret: true,
  }),
] as unknown as readonly AnyRoute[]

let service: TestService
let api: MerchantClient

t.before(async () => {
  service = await startService(t)
  const { runtime, credentials } = service.service
  const challenges = {
    consume: async (challenge: { id: string; purpose: string }) => {
      if (challenge.purpose !== purpose || consumed.has(challenge.id))
        throw new Refusal('challenge_must_be_verified')
      consumed.add(challenge.id)
    },
  }
  const options = { authenticators: [authenticator], challenges }
  const running = await startApi({ runtime, table: [...routes, ...table], ...options })
  t.teardown(() => running.close())
  api = clientOf({ port: running.port, credentials })
})

const merchantId = () => service.service.credentials.merchant_id
const user = () => credential('user', merchantId(), false)

function post(
  path: string,
  key: string,
  { body = undefined as object | undefined, idempotencyKey = '' } = {},
): Promise<Answer> {
  const headers = { ...(idempotencyKey && { 'idempotency-key': idempotencyKey }) }
  return api.post(path, body, { key, headers })
}

t.test('every row refuses every kind of credential that it does not name', async (t) => {
  const guarded = routes.filter((route) => !credentialsOf(route).includes('nobody'))
  const pairs = guarded.flatMap((route) =>
    kinds.filter((kind) => !credentialsOf(route).includes(kind)).map((kind) => [route, kind] as const),
  )
  await lawOver(t, pairs, async ([route, kind]) => {
    const key = await credentialOf(kind, merchantId(), false)
    const { path, body } = unknownSample(route)
    const answer = await api.call(partsOf(route).method, path, body, { key })
    t.match(answer, { status: 403, body: { code: 'IKW-AUTHZ-003' } }, `${route.operation} by ${kind}`)
  })
})

t.test(
  'no row that names a resource shows it to another merchant or environment, by any credential',
  async (t) => {
    const stranger = randomUUID()
    const taken = (route: AnyRoute) => kinds.filter((kind) => credentialsOf(route).includes(kind))
    const named = routes.filter((route) => namesResource(route) && taken(route).length > 0)
    const owners = [
      [stranger, false],
      [stranger, true],
      [merchantId(), true],
    ] as const
    await lawOver(t, named, async (route) => {
      const { path, body } = await sample(service, route)
      // What belongs to no environment is the merchant's own in each.
      const asking = owners.filter(([merchant]) => merchant === stranger || route.environment !== 'either')
      const pairs = asking.flatMap((owner) => taken(route).map((kind) => [...owner, kind] as const))
      await lawOver(t, pairs, async ([merchant, livemode, kind]) => {
        const key = await credentialOf(kind, merchant, livemode)
        const headers = { 'ikw-environment': livemode ? 'live' : 'sandbox' }
        const answer = await api.call(partsOf(route).method, path, body, { key, headers })
        const asked = `${route.operation} for ${livemode ? 'live' : 'sandbox'} of ${merchant} by ${kind}`
        t.equal(answer.status, 404, asked)
      })
    })
  },
)

t.test('a row takes the credentials that it names, and no others', async (t) => {
  t.match(await post('/test/for-users', user()), { status: 200, body: { credential: 'user' } })
  t.match(await post('/test/for-users', api.sandboxKey), { status: 403, body: { code: 'IKW-AUTHZ-003' } })
  t.match(await post('/test/for-both', api.sandboxKey), { status: 200, body: { credential: 'api_key' } })
  t.match(await post('/test/for-both', ''), { status: 401 })
  t.match(await post('/test/for-both', 'something else'), { status: 401 })
})

t.test('a challenge is asked for, consumed once, and not by a repeat of the same request', async (t) => {
  const missing = await post('/test/challenged', user(), { body: {} })
  t.match(missing, { status: 400, body: { param: '/challengeId' } })
  const body = { challengeId: 'one' }
  const first = await post('/test/challenged', user(), { body, idempotencyKey: 'once' })
  t.match(first, { status: 200 })
  t.match(await post('/test/challenged', user(), { body, idempotencyKey: 'once' }), {
    status: 200,
    body: first.body,
  })
  const again = await post('/test/challenged', user(), { body })
  t.match(again, { status: 403, body: { code: 'IKW-AUTHZ-004' } })
})

t.test('nobody acts for whoever owns what the path names, with idempotency keys of each token', async (t) => {
  const first = await post('/test/pages/first', '', { idempotencyKey: 'key' })
  t.match(first, { status: 200, body: { credential: 'nobody', merchant: tokens['first'] } })
  t.match(await post('/test/pages/first', '', { idempotencyKey: 'key' }), { body: first.body })
  const second = await post('/test/pages/second', '', { idempotencyKey: 'key' })
  t.match(second, { status: 200, body: { merchant: tokens['second'] } })
  t.match(await post('/test/pages/unknown', ''), { status: 404 })
})

t.test('strangers do not share idempotency keys, and are told no credential twice', async (t) => {
  for (const path of ['/test/strangers', '/test/sign-in/first']) {
    const [one, other] = [
      await post(path, '', { idempotencyKey: 'k' }),
      await post(path, '', { idempotencyKey: 'k' }),
    ]
    t.match([one.status, one.body['key']], [200, null], path)
    t.not(other.body['id'], one.body['id'], path)
    t.equal(other.headers.get('idempotent-replayed'), null, path)
  }
})
