import { connect } from 'node:net'
import t from 'tap'
import { Problem } from '../../packages/contract/refusals/problem.ts'
import { startApi } from '../../services/api/main.ts'
import { lawOver } from '../support/law.ts'
import { fc, type Arbitrary } from '../support/properties.ts'
import { Values, type Schema } from '../support/schemas/schema-arbitrary.ts'
import { schemaFaults } from '../support/schemas/schema-faults.ts'
import { startServiceWithGoogle } from '../support/identities/google.ts'
import type { Answer, TestService } from '../support/service.ts'

const runsPerOperation = 60

interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly schema: Schema
}

interface Described {
  readonly parameters: readonly (Parameter | { readonly $ref: string })[]
  readonly requestBody?: { readonly content: { readonly 'application/json': { readonly schema: Schema } } }
  readonly responses: Readonly<
    Record<string, { content: { 'application/problem+json': { examples: object } } }>
  >
}

interface Reference {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>
    readonly parameters: Readonly<Record<string, Parameter>>
  }
}

let service: TestService
let document: Reference

t.before(async () => {
  service = await startServiceWithGoogle(t)
  document = (await service.get<Reference>('/openapi.json')).body
})

/** What is written into a request. */
interface Nonsense {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: unknown
}

t.test('whatever is sent to an operation, the answer is one that its documentation names', async (t) => {
  const values = new Values(document.components.schemas)
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  )
  await lawOver(t, operations, async ({ path, method, operation }) => {
    const property = fc.asyncProperty(requests(values, path, operation), async (request) => {
      const answer = await service.call(method.toUpperCase(), request.path, request.body, {
        headers: request.headers,
      })
      const fault = faultOf(answer, operation)
      if (fault) throw new Error(`${fault}: ${JSON.stringify(answer.body)}`)
    })
    await t.resolves(fc.assert(property, { numRuns: runsPerOperation }), `${method.toUpperCase()} ${path}`)
  })
})

function faultOf({ status, headers, body }: Answer, operation: Described): string | undefined {
  if (status >= 500) return `answered ${status}`
  const response = operation.responses[status]
  if (!response) return `${status} is not documented`
  if (status < 400) return undefined
  if (!headers.get('content-type')?.startsWith('application/problem+json')) return 'is of another media type'
  if (schemaFaults(Problem, body).length > 0) return 'is no problem document'
  const { examples } = response.content['application/problem+json']
  const codes = JSON.stringify(examples)
  const named = Object.keys(examples).some((name) => codeOf(name) === body['code'])
  return named ? undefined : `${String(body['code'])} is not one of ${codes}`
}

function codeOf(name: string): string {
  const { examples } = document.components as unknown as {
    examples: Readonly<Record<string, { value: { code: string } }>>
  }
  return examples[name]!.value.code
}

function requests(values: Values, path: string, operation: Described): Arbitrary<Nonsense> {
  const parameters = operation.parameters.map((one) =>
    '$ref' in one ? document.components.parameters[one.$ref.replace('#/components/parameters/', '')]! : one,
  )
  const schema = operation.requestBody?.content['application/json'].schema
  return fc.record({
    path: addresses(values, path, parameters),
    headers: headersOf(parameters.filter((one) => one.in === 'header')),
    body: path.startsWith('/operations') ? fc.constant(undefined) : bodies(values, schema),
  })
}

/** Nothing that a URL would take away again: no empty segment, no dots alone. */
const segment = fc.oneof(
  fc.constantFrom('null', '-1', '💸', 'po_', 'a/b', 'x'.repeat(300), '\u0000', "'--"),
  fc
    .string({ unit: 'binary', minLength: 1, maxLength: 30 })
    .filter((text) => text.isWellFormed() && !/^\.+$/.test(text)),
)

function addresses(values: Values, path: string, parameters: readonly Parameter[]): Arbitrary<string> {
  const inPath = parameters.find((one) => one.in === 'path')
  const inQuery = parameters.filter((one) => one.in === 'query')
  const filled = inPath
    ? fc.oneof(segment, fc.stringMatching(new RegExp(inPath.schema.pattern ?? '^[a-z0-9]{1,40}$')))
    : fc.constant('')
  const fields = Object.fromEntries(inQuery.map(({ name, schema }) => [name, values.of(schema, name)]))
  const query = fc.oneof(
    { weight: 4, arbitrary: fc.record(fields, { requiredKeys: [] }) },
    {
      weight: 1,
      arbitrary: fc.dictionary(fc.string({ maxLength: 8 }), fc.string({ maxLength: 8 }), { maxKeys: 3 }),
    },
  )
  return fc.tuple(filled, query).map(([part, pairs]) => {
    const search = Object.entries(pairs).flatMap(([name, value]) =>
      [value].flat().map((one) => `${escaped(name)}=${escaped(one)}`),
    )
    return `${path.replace(/\{\w+\}/, escaped(part))}${search.length > 0 ? `?${search.join('&')}` : ''}`
  })
}

function escaped(value: unknown): string {
  return encodeURIComponent(typeof value === 'string' ? value.toWellFormed() : (JSON.stringify(value) ?? ''))
}

/** Header values that a client can send at all. */
const headerText = fc.oneof(
  fc.constantFrom('', '0', '1', '-1', '1e3', 'sandbox', 'live', 'key'),
  fc.stringMatching(/^[\x21-\x7e\xa1-\xff]{0,300}$/),
)

function headersOf(parameters: readonly Parameter[]): Arbitrary<Readonly<Record<string, string>>> {
  const names = parameters.map(({ name }) => name.toLowerCase())
  const some = fc.dictionary(fc.constantFrom(...names), headerText, { maxKeys: names.length })
  return fc.oneof({ weight: 3, arbitrary: fc.constant({}) }, { weight: 1, arbitrary: some })
}

function bodies(values: Values, schema: Schema | undefined): Arbitrary<unknown> {
  if (!schema) return fc.constant(undefined)
  const text = fc.constantFrom('', '{', '[]', 'null', '"a"', '1', '{"amount":1e999}', '{"a":1}', 'amount=1')
  return fc.oneof({ weight: 8, arbitrary: values.of(schema) }, { weight: 1, arbitrary: text })
}

t.test('a body that is not one readable JSON document is refused', async (t) => {
  const deep = `${'['.repeat(30)}${']'.repeat(30)}`
  const cases: readonly (readonly [what: string, body: string | Buffer, status: number, code: string])[] = [
    ['too large', JSON.stringify({ description: 'x'.repeat(300_000) }), 413, 'IKW-REQ-006'],
    ['too deep', `{"metadata":${deep}}`, 400, 'IKW-REQ-007'],
    ['so deep that a parser could fall over', '['.repeat(100_000), 400, 'IKW-REQ-007'],
    ['with an amount twice', '{"amount":1,"amount":2}', 400, 'IKW-REQ-007'],
    ['with an amount twice, spelled otherwise', '{"amount":1,"\\u0061mount":2}', 400, 'IKW-REQ-007'],
    ['with a prototype', '{"__proto__":{"amount":1}}', 400, 'IKW-REQ-007'],
    ['in Latin-1', Buffer.from('{"description":"Koné"}', 'latin1'), 400, 'IKW-REQ-007'],
    ['in UTF-16', Buffer.from('{"amount":1}', 'utf16le'), 400, 'IKW-REQ-007'],
    ['with the character U+0000', '{"description":"\\u0000"}', 400, 'IKW-REQ-001'],
    ['cut off', '{"amount":1', 400, 'IKW-REQ-007'],
  ]
  for (const [what, body, status, code] of cases) {
    const response = await fetch(`${service.url}/api/v1/payment-intents`, {
      method: 'POST',
      headers: { authorization: `Bearer ${service.sandboxKey}`, 'content-type': 'application/json' },
      body,
    })
    t.match(
      { status: response.status, body: await response.json() },
      { status, body: { status, code } },
      what,
    )
  }
  const form = await service.post('/api/v1/payment-intents', 'amount=1', {
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  })
  t.match(form, { status: 415, body: { code: 'IKW-REQ-012' } }, 'of another type')
})

t.test('what cannot be kept is refused with the place where it stands', async (t) => {
  const cases: Readonly<Record<string, string>> = {
    '/description': '{"description":"\\u0000"}',
    '/metadata/a~1b/1/c': '{"metadata":{"other":["a","b"],"a/b":["x",{"c":"\\ud800"}]},"amount":1}',
    '/amount': '{"metadata":{"other":1},"amount":4999.9999999999999999}',
    '': '"\\udc00"',
  }
  for (const [param, body] of Object.entries(cases)) {
    const answer = await service.post('/api/v1/payment-intents', body)
    t.match(answer, { status: 400, body: { code: 'IKW-REQ-001', param } }, body)
  }
})

t.test('a body that never says how large it is, is cut off where it becomes too large', async (t) => {
  const chunk = `8000\r\n${'x'.repeat(0x8000)}\r\n`
  const answer = await raw({
    port: Number(new URL(service.url).port),
    head: 'Transfer-Encoding: chunked',
    parts: Array(12).fill(chunk),
  })
  t.match(answer, /^HTTP\/1\.1 413 .*"code":"IKW-REQ-006"/s)
})

t.test('a client that does not send its body in time is cut off', async (t) => {
  const slow = await startApi({ runtime: service.service.runtime, bodyArrivalMs: 100 })
  t.teardown(() => slow.close())
  const answer = await raw({ port: slow.port, head: 'Content-Length: 100', parts: ['{"amount":'] })
  t.match(answer, /^HTTP\/1\.1 408 .*"code":"IKW-REQ-008"/s)
})

t.test('an address that cannot be read names nothing', async (t) => {
  for (const path of ['/api/v1/payouts/%ZZ', '/api/v1/payouts/%C3', '/api/v1/payouts/%E0%A4%A']) {
    t.match(await service.get(path), { status: 404, body: { code: 'IKW-RES-001' } }, path)
  }
  for (const path of ['/api/v1/merchant/customers?search=%00', '/api/v1/idempotency-keys/%00']) {
    t.match(await service.get(path), { status: 400, body: { code: 'IKW-REQ-001' } }, path)
  }
  t.match(await service.get('/nowhere'), { status: 404, body: { code: 'IKW-RES-001' } })
  t.match(await service.call('PUT', '/api/v1/payouts', {}), { status: 405, body: { code: 'IKW-REQ-009' } })
})

interface RawRequest {
  readonly port: number
  readonly head: string
  readonly parts: readonly string[]
}

/**
 * Writes a request as it is and answers everything that comes back until the other side ends the connection.
 */
function raw({ port, head, parts }: RawRequest): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    let answer = ''
    socket.on('data', (data) => (answer += data.toString()))
    // Writing on while the other side ends the connection is what this test is about.
    socket.on('error', () => undefined)
    socket.on('close', () => resolve(answer))
    const lines = [
      'POST /api/v1/payment-intents HTTP/1.1',
      'Host: localhost',
      `Authorization: Bearer ${service.sandboxKey}`,
      'Content-Type: application/json',
      head,
    ]
    socket.write(`${lines.join('\r\n')}\r\n\r\n`)
    for (const part of parts) socket.write(part)
  })
}
