import t, { type Test } from 'tap'
import { answerOf, isOpenedByLink, listQuery, statusOf } from '../../packages/contract/lists/query.ts'
import { refusals } from '../../packages/contract/refusals.ts'
import type { AnyRoute } from '../../packages/contract/routes.ts'
import type { Scope } from '../../packages/contract/access/scopes.ts'
import { credentialsOf } from '../../packages/contract/access/callers.ts'
import { missing, scopes } from '../../packages/domain/index.ts'
import { routes } from '../../services/families.ts'
import { issueKey, otherMerchantsKey } from '../support/credentials.ts'
import { changesOf, type Change } from '../support/schemas/faulty-bodies.ts'
import { lawOver } from '../support/law.ts'
import { isRefused, send as sendTo } from '../support/requests.ts'
import { namesResource, sample, unknownSample, type Sample } from '../support/samples.ts'
import { newUser, signIn } from '../support/identities/sign-in.ts'
import { schemaFaults } from '../support/schemas/schema-faults.ts'
import { customersToken } from '../support/subscriber.ts'
import { startServiceWithGoogle } from '../support/identities/google.ts'
import type { Answer, CallOptions, TestService } from '../support/service.ts'

const guarded = routes.filter(({ scope }) => scope !== 'public')
const writes = routes.filter(({ operation }) => !operation.startsWith('GET '))
const byKey = guarded.filter((route) => credentialsOf(route).includes('api_key'))
const withBody = routes.filter(({ body }) => body !== undefined)

let service: TestService

t.before(async () => {
  service = await startServiceWithGoogle(t)
})

function send(route: AnyRoute, sample: Sample, options?: CallOptions): Promise<Answer> {
  return sendTo(service, { route, sample, options })
}

t.test('no credential, no entry', async (t) => {
  await lawOver(t, guarded, async (route) => {
    isRefused(t, await send(route, unknownSample(route), { key: '' }), [401, 'IKW-AUTH-001', route.operation])
  })
})

t.test('a credential without the scope of the operation is refused', async (t) => {
  const keys = await keysOf((scope) => scopes.filter((other) => other !== scope))
  await lawOver(t, byKey, async (route) => {
    const key = keys.get(route.scope)!
    isRefused(t, await send(route, unknownSample(route), { key }), [403, 'IKW-AUTHZ-001', route.operation])
  })
})

t.test('the scope of the operation is all that a credential needs', async (t) => {
  // An endpoint gets only events that its key may read: the sample asks for payouts.
  const keys = await keysOf((scope) => (scope === 'webhooks.write' ? [scope, 'payouts.read'] : [scope]))
  await lawOver(t, byKey, async (route) => {
    const { status } = await send(route, unknownSample(route), { key: keys.get(route.scope)! })
    t.notOk([401, 403].includes(status), `${route.operation} answers ${status}`)
  })
})

/** A key for each scope. */
async function keysOf(granted: (scope: Scope) => readonly Scope[]): Promise<ReadonlyMap<string, string>> {
  const keys = new Map<string, string>()
  for (const scope of scopes) keys.set(scope, await issueKey(service, { scopes: granted(scope) }))
  return keys
}

t.test('what belongs to another merchant or the other environment is not there', async (t) => {
  const { token } = await newUser(service)
  const keys = {
    'another merchant': await otherMerchantsKey(service),
    'the other environment': service.liveKey,
    "another merchant's owner": token,
  }
  const ofUsers = { 'another user': token }
  const ofPortals = {
    'another customer': await customersToken(service),
    "another merchant's customer": await customersToken(service, await otherMerchantsKey(service)),
  }
  await lawOver(t, guarded.filter(namesResource), async (route) => {
    const own = await sample(service, route)
    const isOfPortals = credentialsOf(route).includes('customer_portal')
    const others = Object.entries(byKey.includes(route) ? keys : isOfPortals ? ofPortals : ofUsers)
    const taken = others.filter(([, key]) => key !== token || credentialsOf(route).includes('user'))
    await lawOver(t, taken, async ([whose, key]) => {
      const what = `${route.operation} with the key of ${whose}`
      isRefused(t, await send(route, own, { key }), [404, missingCode(route), what])
    })
  })
})

t.test('an unknown id is not found', async (t) => {
  const naming = routes.filter(({ operation }) => operation.includes('{'))
  await lawOver(t, naming, async (route) =>
    isRefused(t, await send(route, unknownSample(route)), [404, missingCode(route), route.operation]),
  )
})

/** Of the innermost kind of object in the path. */
function missingCode({ params = {} }: AnyRoute): string {
  const [kind = ''] = [Object.values(params).at(-1) ?? ''].flat()
  return refusals[missing[kind] ?? 'resource_must_exist'][1]
}

t.test('a required field that is missing is named', async (t) => {
  await everyChangeIsNamed(t, 'missing')
})

t.test('a field of a wrong type is named', async (t) => {
  await everyChangeIsNamed(t, 'wrong type')
})

t.test('a field that is not known is named', async (t) => {
  await everyChangeIsNamed(t, 'unknown')
})

async function everyChangeIsNamed(t: Test, kind: Change['kind']): Promise<void> {
  const faulty = withBody.flatMap((route) => {
    const right = unknownSample(route)
    const changes = changesOf(route.body!, right.body!).filter((change) => change.kind === kind)
    return changes.map((change) => ({ route, right, ...change }))
  })
  await lawOver(t, faulty, async ({ route, right, body, pointer }) => {
    const answer = await send(route, { ...right, body })
    const what = `${route.operation} ${pointer}`
    isRefused(t, answer, [400, 'IKW-REQ-001', what])
    const { errors } = answer.body as { errors?: readonly { pointer: string }[] }
    t.ok(
      errors?.some((error) => error.pointer === pointer),
      `${what} is named`,
    )
  })
}

t.test('a body is refused where none is taken', async (t) => {
  const bodiless = writes.filter(({ body }) => body === undefined)
  await lawOver(t, bodiless, async (route) => {
    const { path } = unknownSample(route)
    isRefused(t, await send(route, { path, body: { surprise: 1 } }), [400, 'IKW-REQ-001', route.operation])
  })
})

t.test('a query parameter that is not known is named', async (t) => {
  const byPrograms = routes.filter((route) => !isOpenedByLink(route))
  await lawOver(t, byPrograms, async (route) => {
    const { path, body } = unknownSample(route)
    const answer = await send(route, { path: `${path}?surprise=1`, ...(body && { body }) })
    isRefused(t, answer, [400, 'IKW-REQ-001', route.operation])
    t.match(answer.body, { param: 'query:/surprise' }, route.operation)
  })
})

t.test('what is added to a link on its way to a browser changes nothing', async (t) => {
  await lawOver(t, routes.filter(isOpenedByLink), async (route) => {
    const { path, body } = unknownSample(route)
    const sent = (to: string) => send(route, { path: to, ...(body && { body }) })
    const [plain, longer] = [await sent(path), await sent(`${path}?fbclid=1`)]
    t.equal(longer.status, plain.status, route.operation)
    t.not(longer.status, 400, route.operation)
  })
})

t.test('a query parameter of a wrong type is named', async (t) => {
  const numbers = routes.flatMap((route) => {
    const query = route.kind === 'list' ? listQuery(route) : route.query
    const fields = Object.entries(query?.properties ?? {}).filter(([, { type }]) => type === 'integer')
    return fields.map(([name]) => ({ route, name }))
  })
  await lawOver(t, numbers, async ({ route, name }) => {
    const answer = await send(route, { path: `${unknownSample(route).path}?${name}=many` })
    isRefused(t, answer, [400, 'IKW-REQ-001', `${route.operation} ${name}`])
    t.match(answer.body, { param: `query:/${name}` }, route.operation)
  })
})

t.test('the answer has the status and exactly the fields that the documentation says', async (t) => {
  const { owner_email: email, owner_password: password } = service.service.credentials
  const { token } = await signIn(service, { email, password })
  const both = byKey.filter((route) => credentialsOf(route).includes('user'))
  const pairs = [
    ...routes.map((route) => ({ route, options: {} })),
    ...both.map((route) => ({ route, options: { key: token } })),
  ]
  await lawOver(t, pairs, async ({ route, options }) => {
    const answer = await send(route, await sample(service, route), options)
    t.equal(answer.status, statusOf(route), `${route.operation} ${JSON.stringify(answer.body)}`)
    t.strictSame(schemaFaults(answerOf(route), answer.body), [], route.operation)
    t.ok(answer.headers.get('ikw-request-id'), route.operation)
  })
})

t.test('what is created says where it is', async (t) => {
  const made = routes.filter((one) => [201, 202].includes(statusOf(one)))
  const creating = made.filter(({ returns }) => 'id' in returns['properties'])
  await lawOver(t, creating, async (route) => {
    const asked = await sample(service, route)
    const { headers, body } = await send(route, asked)
    // Who has just signed up may see the session that this has started.
    const key = (body['access_token'] as string | undefined) ?? asked.key
    const location = String(headers.get('location'))
    t.match(location, new RegExp(`/${String(body['id'])}$`), route.operation)
    t.match(
      await service.get(location, { ...(key && { key }) }),
      { status: 200, body: { id: body['id'] } },
      location,
    )
  })
})
