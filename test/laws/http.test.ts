import { randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { gzipSync } from 'node:zlib'
import t from 'tap'
import { statusOf, takesIfMatch } from '../../packages/contract/lists/query.ts'
import { partsOf } from '../../packages/contract/openapi/names.ts'
import type { AnyRoute } from '../../packages/contract/routes.ts'
import { routes } from '../../services/families.ts'
import { issueKey } from '../support/credentials.ts'
import { lawOver } from '../support/law.ts'
import { sample, unknownSample } from '../support/samples.ts'
import { startServiceWithGoogle } from '../support/identities/google.ts'
import type { TestService } from '../support/service.ts'

let service: TestService

t.before(async () => {
  service = await startServiceWithGoogle(t)
})

const reads = routes.filter(({ operation }) => operation.startsWith('GET '))
const shows = reads.filter(({ kind, subject }) => kind === 'show' || subject)
/** Parts of something else, which have no revision of their own. */
const parts: ReadonlySet<string> = new Set([
  'PATCH /api/v1/auth/passkeys/{id}',
  'DELETE /api/v1/auth/passkeys/{id}',
  'DELETE /api/v1/merchant/team/{id}',
])

const changes = routes.filter((route) => takesIfMatch(route) && !parts.has(route.operation))

t.test('HEAD says what GET says, without a body', async (t) => {
  // Whoever only looks where a redirect leads starts nothing, and is shown a page.
  const answering = reads.filter(({ kind }) => kind !== 'redirect')
  await lawOver(t, answering, async (route) => {
    const { path, key } = await sample(service, route)
    const options = { ...(key && { key }) }
    const got = await service.get(path, options)
    const head = await service.call<string>('HEAD', path, undefined, options)
    t.strictSame([head.status, head.body], [got.status, ''], route.operation)
    t.equal(head.headers.get('content-type'), got.headers.get('content-type'), route.operation)
    // What operators say in between may make it another one.
    t.equal(head.headers.has('etag'), got.headers.has('etag'), route.operation)
  })
})

t.test('OPTIONS says what may be asked, and lets pages of others ask what is public', async (t) => {
  await lawOver(t, routes, async (route) => {
    const { method, path } = partsOf(route)
    const address = unknownSample(route).path
    const { status, headers } = await service.call('OPTIONS', address, undefined, { key: '' })
    t.equal(status, 204, path)
    const allow = headers.get('allow')!.split(', ')
    t.ok(allow.includes(method) && allow.includes('OPTIONS'), `${route.operation}: ${allow.join(' ')}`)
    t.equal(allow.includes('HEAD'), allow.includes('GET'), path)
    const isPublic = routes.some((one) => partsOf(one).path === path && one.scope === 'public')
    t.equal(headers.get('access-control-allow-origin'), isPublic ? '*' : null, path)
  })
  await lawOver(t, reads, async (route) => {
    const { headers } = await service.get(unknownSample(route).path)
    t.equal(
      headers.get('access-control-allow-origin'),
      route.scope === 'public' ? '*' : null,
      route.operation,
    )
  })
})

t.test('browsers get a page also where an address names nothing, or is written like none', async (t) => {
  const paged = reads.filter((route) => 'page' in route)
  await lawOver(t, paged, async (route) => {
    const { path: unknown } = unknownSample(route)
    const mistyped = partsOf(route).path.replaceAll(/\{\w+\}/g, 'x')
    for (const path of [unknown, mistyped]) {
      const answer = await service.get(path, { key: '', headers: { accept: 'text/html' } })
      t.equal(answer.status, 404, path)
      t.equal(answer.headers.get('content-type'), 'text/html; charset=utf-8', path)
    }
  })
})

t.test('a method that is not there is answered by those that are', async (t) => {
  await lawOver(t, routes, async (route) => {
    const there = methodsAt(partsOf(route).path)
    const method = ['PUT', 'PATCH', 'DELETE'].find((one) => !there.includes(one))!
    const { status, headers } = await service.call(method, unknownSample(route).path, {})
    t.equal(status, 405, route.operation)
    t.ok(headers.get('allow')?.includes(partsOf(route).method), route.operation)
  })
})

function methodsAt(path: string): readonly string[] {
  return routes.filter((route) => partsOf(route).path === path).map((route) => partsOf(route).method)
}

/** What is shown to the merchant elsewhere. */
const elsewhere: ReadonlyMap<string, string> = new Map([
  ['POST /api/v1/customer-portal/subscriptions/{id}/cancel', '/api/v1/billing/subscriptions'],
  ['POST /api/v1/merchant/billing/wallet/invoices/{invoiceId}/apply', '/api/v1/merchant/invoices'],
])

/** Where its path does not go on from that of what it changes. */
const apart: ReadonlyMap<string, string> = new Map([
  ['POST /api/v1/auth/email-change/cancel', '/api/v1/auth/personal-info'],
])

/** Where what a change changes is shown: the GET row whose path its own path is, or goes on from. */
function shownAt(change: AnyRoute, path: string): string | undefined {
  const other = elsewhere.get(change.operation)
  if (other) return `${other}/${path.split('/').at(-2)}`
  if (apart.has(change.operation)) return apart.get(change.operation)
  const segments = partsOf(change).path.split('/')
  const show = shows.find((one) =>
    isDeepStrictEqual(segmentsOf(one), segments.slice(0, segmentsOf(one).length)),
  )
  return show && path.split('/').slice(0, segmentsOf(show).length).join('/')
}

const segmentsOf = (route: AnyRoute) => partsOf(route).path.split('/')

t.test('whatever changes what is there can be bound to what was seen', async (t) => {
  const changing = routes.filter((route) => {
    const { method, path } = partsOf(route)
    // Payers are shown no revisions, and quotes change nothing.
    if (route.scope === 'public' || path.endsWith('/fee_quote') || parts.has(route.operation)) return false
    const isCreation = route.creates !== undefined || statusOf(route) !== 200
    return method === 'POST' ? path.includes('{') && !isCreation : method !== 'GET'
  })
  await lawOver(t, changing, (route) => t.ok(takesIfMatch(route), `${route.operation} needs isChange`))
})

t.test('a change is bound to what was seen, if its client wants that', async (t) => {
  await lawOver(t, changes, async (route) => {
    const { method } = partsOf(route)
    const { path, body, key } = await sample(service, route)
    const as = { ...(key && { key }) }
    const shown = shownAt(route, path)
    if (shown === undefined) return t.fail(`${route.operation} changes what cannot be read`)
    const look = () => service.get(shown, elsewhere.has(route.operation) ? {} : as)
    const etag = (await look()).headers.get('etag')!
    t.match(etag, /^"(-1|\d+)"$/, route.operation)
    const send = (tag: string) =>
      service.call(method, path, body, {
        ...as,
        headers: { 'if-match': tag, 'idempotency-key': randomUUID() },
      })
    const { store } = service.service.runtime.dependencies
    const before = await store.head()
    const other = await send('"999"')
    t.match(other, { status: 412, body: { code: 'IKW-RES-005', retryable: false } }, route.operation)
    const written = (await store.readAll(before, 1_000)).filter(
      ({ metadata }) => metadata.request === other.headers.get('ikw-request-id'),
    )
    t.strictSame(written, [], `${route.operation}: nothing else was written either`)
    t.equal((await look()).headers.get('etag'), etag, 'it is left alone')
    t.match(await send('nonsense'), { status: 400, body: { param: 'header:If-Match' } }, route.operation)
    const done = await send(etag)
    t.equal(done.status, 200, route.operation)
    t.match(done.headers.get('etag'), /^"\d+"$/, 'it says what it has become')
    t.not(done.headers.get('etag'), etag, `${route.operation}: its first example changes something`)
  })
  const others = routes.filter((route) => !route.operation.startsWith('GET ') && !takesIfMatch(route))
  await lawOver(t, others, async (route) => {
    const { path, body } = unknownSample(route)
    const answer = await service.call(partsOf(route).method, path, body, { headers: { 'if-match': '"1"' } })
    t.match(answer, { status: 400, body: { param: 'header:If-Match' } }, route.operation)
  })
})

t.test('what is long is packed for those who take it', async (t) => {
  for (let count = 0; count < 3; count++) {
    const intent = { amount: 5_000, currency: 'XOF', transaction_country: 'SN', description: 'x'.repeat(500) }
    await service.post('/api/v1/payment-intents', intent)
  }
  const ask = (encoding: string) =>
    service.get<{ data: unknown[] }>('/api/v1/payment-intents', { headers: { 'accept-encoding': encoding } })
  const [plain, packed] = [await ask('identity'), await ask('gzip')]
  t.equal(packed.headers.get('content-encoding'), 'gzip')
  t.equal(plain.headers.get('content-encoding'), null)
  t.strictSame(packed.body, plain.body)
  t.match(plain.headers.get('vary'), 'Accept-Encoding')
  const { headers } = await service.get('/api/v1/payment-intents?limit=1&status=failed')
  t.equal(headers.get('content-encoding'), null, 'what is short is not')
})

async function sendPacked(bytes: Buffer, encoding: string) {
  const response = await fetch(`${service.url}/api/v1/payment-intents`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${service.sandboxKey}`,
      'content-type': 'application/json',
      'content-encoding': encoding,
    },
    body: bytes,
  })
  return { status: response.status, body: await response.json() }
}

t.test('a body may be packed, and is held to the same limits', async (t) => {
  const body = gzipSync('{"amount":5000,"currency":"XOF","transaction_country":"SN"}')
  t.match(await sendPacked(body, 'gzip'), { status: 201, body: { amount: 5_000 } })
  t.match(await sendPacked(body, 'br'), { status: 415, body: { code: 'IKW-REQ-013' } })
  t.match(await sendPacked(Buffer.from('{}'), 'gzip'), { status: 400, body: { code: 'IKW-REQ-007' } })
  const bomb = gzipSync(`{"description":"${'x'.repeat(50_000_000)}"}`)
  t.ok(bomb.length < 256 * 1_024)
  t.match(await sendPacked(bomb, 'gzip'), { status: 413, body: { code: 'IKW-REQ-006' } })
})

t.test('whoever is refused for a credential learns why in its terms', async (t) => {
  const challenge = async (key: string) =>
    (await service.get('/api/v1/balance', { key })).headers.get('www-authenticate')
  t.equal(await challenge(''), 'Bearer realm="ikw-payments"')
  t.match(
    await challenge('ik_test_nonsense'),
    /^Bearer realm="ikw-payments", error="invalid_token", error_desc/,
  )
  const scoped = await issueKey(service, { scopes: ['payouts.read'] })
  t.match(await challenge(scoped), /^Bearer realm="ikw-payments", error="insufficient_scope"$/)
  t.equal(await challenge(service.sandboxKey), null)
})

t.test('no answer is kept on its way, guessed at, or tells others where it came from', async (t) => {
  const guards = {
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'strict-transport-security': 'max-age=31536000; includeSubDomains',
    'referrer-policy': 'no-referrer',
  }
  await lawOver(t, routes, async (route) => {
    const { method } = partsOf(route)
    const { path, body } = unknownSample(route)
    for (const key of [service.sandboxKey, '']) {
      const { headers } = await service.call(method.toUpperCase(), path, body, { key })
      t.match(Object.fromEntries(headers), guards, `${route.operation} ${key ? 'with' : 'without'} a key`)
      t.ok(headers.get('ikw-request-id'), route.operation)
    }
  })
  t.match(Object.fromEntries((await service.get('/nowhere')).headers), guards)
})
