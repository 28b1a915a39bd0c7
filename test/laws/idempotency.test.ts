import { randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import t from 'tap'
import { statusOf } from '../../packages/contract/lists/query.ts'
import { examplesOf } from '../../packages/contract/openapi/operation.ts'
import type { AnyRoute } from '../../packages/contract/routes.ts'
import { credentialsOf } from '../../packages/contract/access/callers.ts'
import { takesIdempotencyKeys } from '../../services/api/kinds/idempotency.ts'
import { routes } from '../../services/families.ts'
import { otherMerchantsKey } from '../support/credentials.ts'
import { startServiceWithGoogle } from '../support/identities/google.ts'
import { replaced } from '../support/ledger/late-repeats.ts'
import { lawOver } from '../support/law.ts'
import { isRefused, send as sendTo } from '../support/requests.ts'
import { namesResource, sample, type Sample } from '../support/samples.ts'
import type { Answer, CallOptions, TestService } from '../support/service.ts'

/** Strangers without a token of their own have no keys, and who has signed out cannot repeat it. */
const keyed = routes.filter((route) => {
  const isWrite = !route.operation.startsWith('GET ')
  return isWrite && takesIdempotencyKeys(route) && !route.operation.endsWith('/logout')
})
const byKey = keyed.filter((route) => credentialsOf(route).includes('api_key'))

let service: TestService

t.before(async () => {
  service = await startServiceWithGoogle(t)
})

function send(route: AnyRoute, sample: Sample, options?: CallOptions): Promise<Answer> {
  return sendTo(service, { route, sample, options })
}

t.test(
  'the same idempotency key twice is the same answer, and another request under it is refused',
  async (t) => {
    // A key is that of one operation: no other one knows of it.
    const shared = randomUUID()
    await lawOver(t, keyed, async (route) => {
      const first = await sample(service, route)
      const options = { headers: { 'idempotency-key': route.twinOf ? randomUUID() : shared } }
      const answer = await send(route, first, options)
      const again = await send(route, first, options)
      t.equal(answer.status, statusOf(route), `${route.operation} ${JSON.stringify(answer.body)}`)
      t.strictSame([again.status, again.body], [answer.status, answer.body], route.operation)
      t.equal(answer.headers.get('idempotent-replayed'), null, route.operation)
      t.equal(again.headers.get('idempotent-replayed'), 'true', route.operation)
      // Strangers' keys are apart for each token, and without a body there is only one request.
      if (route.token && !route.body) return
      const other = { ...first, ...(await otherRequest(route, first)), ...(first.key && { key: first.key }) }
      if (!route.body && !namesResource(route)) return
      const isOther = !isDeepStrictEqual([other.path, other.body], [first.path, first.body])
      t.ok(isOther, `the examples of ${route.operation} show a second body`)
      isRefused(t, await send(route, other, options), [409, 'IKW-REQ-003', route.operation])
    })
  },
)

t.test('the same request ten times at once has one effect and one answer', async (t) => {
  await lawOver(t, keyed, async (route) => {
    const asked = await sample(service, route)
    const key = randomUUID()
    const options = { headers: { 'idempotency-key': key } }
    const answers = await Promise.all(Array.from({ length: 10 }, () => send(route, asked, options)))
    const [done, waiting] = [true, false].map((is) =>
      answers.filter(({ status }) => (status === statusOf(route)) === is),
    )
    const [first] = done!
    t.ok(first, `${route.operation}: ${JSON.stringify(answers[0]!.body)}`)
    const others = done!.filter(({ body }) => !isDeepStrictEqual(body, first!.body))
    t.strictSame(others, [], `${route.operation} answers alike`)
    const refused = waiting!.filter(({ status, body }) => status !== 409 || body['retryable'] !== true)
    t.strictSame(refused, [], `${route.operation} asks the others to wait`)
    const events = await eventsOf(key)
    const types = events.map(({ type }) => type)
    t.strictSame(types, [...new Set(types)], `${route.operation} has one effect`)
    const last = await send(route, asked, options)
    t.strictSame([last.status, last.body], [first!.status, first!.body], route.operation)
    t.strictSame(await eventsOf(key), events, `${route.operation} has one effect`)
  })
})

t.test('the key of one merchant is nothing to another', async (t) => {
  const other = await otherMerchantsKey(service)
  const own = byKey.filter((route) => !namesResource(route))
  await lawOver(t, own, async (route) => {
    const asked = await sample(service, route)
    const options = { headers: { 'idempotency-key': randomUUID() } }
    const { body } = await send(route, asked, options)
    const answer = await send(route, asked, { ...options, key: other })
    t.equal(answer.headers.get('idempotent-replayed'), null, route.operation)
    t.not(answer.status, 409, route.operation)
    if (body['id']) t.not(answer.body['id'], body['id'], route.operation)
  })
})

/** The same operation with another body, or, where there is no other, on another resource. */
async function otherRequest(route: AnyRoute, { path, body }: Sample): Promise<Sample> {
  if (typeof body?.['amount'] === 'number') return { path, body: { ...body, amount: body['amount'] + 1 } }
  if (body?.['metadata']) return { path, body: { ...body, metadata: { other: 'request' } } }
  const [, second] = route.body ? Object.values(examplesOf(route, route.body)) : []
  return second ? { path, body: second.value as Record<string, unknown> } : sample(service, route)
}

t.test('a try whose answer was lost after its effect is answered by the next one', async (t) => {
  await lawOver(t, keyed, async (route) => {
    const first = await sample(service, route)
    const key = randomUUID()
    const options = { headers: { 'idempotency-key': key } }
    const answer = await send(route, first, options)
    const before = await eventsOf(key)
    await loseAnswer(key)
    const again = await send(route, first, options)
    t.equal(again.status, answer.status, route.operation)
    if (!ofTheMoment.includes(route.operation)) t.strictSame(again.body, answer.body, route.operation)
    t.strictSame(await eventsOf(key), before, `${route.operation} has no second effect`)
  })
})

/** As a process leaves it that dies before it has kept the answer. */
async function loseAnswer(key: string): Promise<void> {
  await service.service.runtime.postgres.pool.query(
    `update answers set status = 'running', http_status = null, body = null, in_hand_at = '-infinity' where key = $1`,
    [key],
  )
}

t.test('a late repeat undoes nothing that a newer request has done', async (t) => {
  await lawOver(t, Object.entries(replaced), async ([what, make]) => {
    const { first, later, ...as } = await make(service)
    const key = randomUUID()
    const sendFirst = (asked: CallOptions) =>
      service.post(first.path, first.body, { ...asked, headers: { 'idempotency-key': key } })
    const answer = await sendFirst(as)
    const before = await eventsOf(key)
    t.ok(before.length > 0, `${what}: ${JSON.stringify(answer.body)}`)
    const { method = 'POST', path, body } = await later(answer.body)
    const newer = await service.call(method, path, body, keyAfter(answer, as))
    t.ok(newer.status < 300, `${what}: ${JSON.stringify(newer.body)}`)
    await loseAnswer(key)
    const again = await sendFirst(keyAfter(newer, as))
    t.ok(again.status < 500, `${what}: ${JSON.stringify(again.body)}`)
    t.strictSame(await eventsOf(key), before, `${what} stays as the newer request has left it`)
  })
})

/** Who switches goes on with other tokens. */
function keyAfter({ body }: Answer, options: CallOptions): CallOptions {
  return typeof body['access_token'] === 'string' ? { key: body['access_token'] } : options
}

/** They answer how things stand when they are asked. */
const ofTheMoment = [
  'POST /api/v1/fees/quote',
  'POST /api/v1/checkout/sessions/{id}/fee_quote',
  'POST /api/test/balance/topup',
  'POST /api/v1/auth/switch-merchant',
  'POST /api/v1/organizations/switch',
  'POST /portal/{token}/subscriptions/{id}/cancel',
  'POST /portal/{token}/invoices/{id}/wallet',
]

interface Happened {
  readonly type: string
}

async function eventsOf(key: string): Promise<readonly Happened[]> {
  const text = `select stream, revision, type from events where metadata->>'idempotencyKey' = $1 order by position`
  return (await service.service.runtime.postgres.pool.query(text, [key])).rows
}

t.test(
  'what a key created is answered as it was then, whatever the same key has done to it since',
  async (t) => {
    const created = { amount: 5_000, currency: 'XOF', transaction_country: 'SN' }
    const options = { headers: { 'idempotency-key': randomUUID() } }
    const answer = await service.post('/api/v1/payment-intents', created, options)
    const path = `/api/v1/payment-intents/${String(answer.body['id'])}`
    t.match(await service.post(`${path}/cancel`, undefined, options), {
      status: 200,
      body: { status: 'canceled' },
    })
    const again = await service.post('/api/v1/payment-intents', created, options)
    t.strictSame([again.status, again.body], [answer.status, answer.body])
  },
)
