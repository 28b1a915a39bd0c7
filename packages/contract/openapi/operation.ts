import { prefixes } from '../identity.ts'
import { answerOf, listQuery, statusOf } from '../list-query.ts'
import { exampleIds, exampleOf, requestExamples, type NamedExamples } from './examples.ts'
import { familyOf } from './families.ts'
import { operationId, partsOf } from './names.ts'
import type { RefusedResponses } from './refusals.ts'
import type { Json, NamedSchemas } from './schemas.ts'
import type { AnyRoute } from '../routes.ts'
import type { TSchema } from '../vocabulary.ts'

/** What operations refer to, collected while they are made. */
export interface Shared {
  readonly schemas: NamedSchemas
  readonly refused: RefusedResponses
  readonly baseUrl: string
}

/** One row as an operation of the document. */
export function operationOf(route: AnyRoute, { schemas, refused, baseUrl }: Shared): Json {
  const body = requestBody(route, schemas)
  return {
    operationId: operationId(route),
    tags: [familyOf(partsOf(route).path).tag],
    summary: route.summary,
    description: describe(route),
    security: route.scope === 'public' ? [] : [{ ApiKey: [route.scope] }, { AppToken: [route.scope] }],
    parameters: [...pathParameters(route), ...queryParameters(route, schemas), ...headers(route)],
    ...(body && { requestBody: body }),
    responses: { [statusOf(route)]: success(route, schemas), ...refused.of(route) },
    'x-codeSamples': [{ lang: 'Shell', label: 'curl', source: curl(route, baseUrl) }],
    ...(route.inferred && { 'x-inferred': true }),
  }
}

const consistencies: Readonly<Record<AnyRoute['kind'], string | undefined>> = {
  create: undefined,
  change: undefined,
  show: 'Always current.',
  list: 'Shows what you wrote before through the same process; send `Min-Position` to be sure everywhere.',
  perform: undefined,
}

function describe({ operation, kind, scope, idempotency, page }: AnyRoute): string {
  return [
    scope === 'public' ? 'Needs no credential.' : `Needs the scope \`${scope}\`.`,
    consistencies[kind],
    idempotency && 'In live, `Idempotency-Key` is required, to prevent duplicate disbursements.',
    page && 'A browser that asks for `text/html` gets a page.',
    operation.includes('/api/v1/merchant/') && 'The legacy path without `/v1` is the same operation.',
  ]
    .filter(Boolean)
    .join(' ')
}

const otherParameters: Readonly<Record<string, { readonly description: string; readonly example: string }>> =
  {
    operationId: {
      description: 'Id of the operation, as `operation_id` shows it',
      example: exampleIds.of(prefixes.operation),
    },
    key: { description: 'The idempotency key, as it was sent', example: 'order-1042' },
  }

function pathParameters(route: AnyRoute): Json[] {
  return [...route.operation.matchAll(/\{(\w+)\}/g)].map(([, name]) => {
    const shared = { name, in: 'path', required: true }
    if (name === 'id') return { ...shared, ...idParameter(route) }
    const { description, example } = otherParameters[name!] ?? {
      description: `The ${name}`,
      example: exampleIds.bare,
    }
    return { ...shared, description, schema: { type: 'string' }, example }
  })
}

const hex = '[0-9a-fA-F]'
const uuidPattern = `(${hex}{32}|${hex}{8}(-${hex}{4}){3}-${hex}{12})`

/** Every id may have either spelling: prefix and 32 hex digits, or the bare UUID. */
function idParameter({ kinds = [] }: AnyRoute): Json {
  const known = kinds.map((kind) => prefixes[kind])
  const [first] = known
  if (first === undefined) {
    return {
      description: 'UUID',
      schema: { type: 'string', pattern: `^${uuidPattern}$` },
      example: exampleIds.bare,
    }
  }
  return {
    description: `Public id (\`${known.join('_…` or `')}_…\`) or the bare UUID`,
    schema: { type: 'string', pattern: `^((${known.join('|')})_)?${uuidPattern}$` },
    examples: {
      public: { summary: 'Public id', value: exampleIds.of(first) },
      bare: { summary: 'Bare UUID', value: exampleIds.bare },
    },
  }
}

function queryParameters(route: AnyRoute, schemas: NamedSchemas): Json[] {
  const query = route.kind === 'list' ? listQuery(route) : route.query
  const required: readonly string[] = query?.required ?? []
  return Object.entries(query?.properties ?? {}).map(([name, schema]) => ({
    name,
    in: 'query',
    ...(required.includes(name) && { required: true }),
    ...(schema['description'] && { description: schema['description'] as string }),
    ...(schema['type'] === 'array' && { style: 'form', explode: true }),
    schema: schemas.at(schema),
  }))
}

function headers(route: AnyRoute): Json[] {
  const names = [
    route.environment === 'required' ? 'EnvironmentRequired' : route.scope !== 'public' && 'Environment',
    !route.operation.startsWith('GET ') && (route.idempotency ? 'IdempotencyKeyOfPayouts' : 'IdempotencyKey'),
    route.kind === 'list' && 'MinPosition',
    'RequestId',
  ].filter((name) => typeof name === 'string')
  return names.map((name) => ({ $ref: `#/components/parameters/${name}` }))
}

function requestBody(route: AnyRoute, schemas: NamedSchemas): Json | undefined {
  if (!route.body) return undefined
  const required: readonly unknown[] =
    (route.body as TSchema & { required?: readonly string[] }).required ?? []
  const content = { schema: schemas.at(route.body), examples: examplesOf(route, route.body) }
  return { required: required.length > 0, content: { 'application/json': content } }
}

export function examplesOf({ operation }: AnyRoute, body: TSchema): NamedExamples {
  return requestExamples[operation] ?? { body: { summary: 'A request', value: exampleOf(body) } }
}

function success(route: AnyRoute, schemas: NamedSchemas): Json {
  const status = statusOf(route)
  const isWrite = !route.operation.startsWith('GET ')
  const named = [
    'Ikw-Request-Id',
    ...(status === 201 ? ['Location'] : []),
    ...(isWrite ? ['Ledger-Position', 'Idempotent-Replayed'] : []),
    ...(route.kind === 'list' ? ['Ledger-Position'] : []),
    ...(route.scope === 'public'
      ? []
      : ['RateLimit-Policy', 'RateLimit', 'X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset']),
  ]
  const answer = answerOf(route)
  const example = exampleOf(answer, { url: partsOf(route).path.replace('{id}', exampleIds.bare) })
  return {
    description: { 200: 'Done', 201: 'Created', 202: 'Accepted' }[status],
    headers: Object.fromEntries(named.map((name) => [name, { $ref: `#/components/headers/${name}` }])),
    content: {
      'application/json': { schema: schemas.at(answer), example },
      ...(route.page && { 'text/html': { schema: { type: 'string' } } }),
    },
  }
}

function curl(route: AnyRoute, baseUrl: string): string {
  const { method, path } = partsOf(route)
  const [prefix] = route.kinds ?? []
  const address = path
    .replace('{id}', prefix ? exampleIds.of(prefixes[prefix]) : exampleIds.bare)
    .replace(/\{(\w+)\}/, (_, name: string) => otherParameters[name]?.example ?? exampleIds.bare)
  const body =
    route.body &&
    JSON.stringify(Object.values(examplesOf(route, route.body))[0]!.value).replaceAll("'", "'\\''")
  return [
    `curl ${method === 'GET' ? '' : `-X ${method} `}${baseUrl}${address}`,
    ...(route.scope === 'public' ? [] : ['-H "Authorization: Bearer $IKW_API_KEY"']),
    ...(route.environment ? ['-H "Ikw-Environment: sandbox"'] : []),
    ...(method === 'GET' ? [] : ['-H "Idempotency-Key: order-1042"']),
    ...(body ? ['-H "Content-Type: application/json"', `-d '${body}'`] : []),
  ].join(' \\\n  ')
}
