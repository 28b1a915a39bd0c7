import { takesCredentials } from '../access/callers.ts'
import { answerOf, isRepeated, listQuery, statusOf, takesIfMatch } from '../lists/query.ts'
import { exampleIds, exampleOf } from './examples.ts'
import { operationId, ownerName, partsOf, pascal } from './names.ts'
import type { RefusedResponses } from './refusals.ts'
import { securityOf } from './security.ts'
import type { Json, NamedSchemas } from './schemas.ts'
import type { AnyRoute, NamedExamples } from '../routes.ts'
import type { Section } from '../section.ts'
import type { TSchema } from '../vocabulary.ts'

/** What operations refer to, collected while they are built. */
export interface Shared {
  readonly schemas: NamedSchemas
  readonly refused: RefusedResponses
  readonly baseUrl: string
  readonly idPrefixes: Readonly<Record<string, string>>
}

/** One row as an operation of the document. */
export function operationOf(route: AnyRoute, shared: Shared): Json {
  const { schemas, refused } = shared
  const body = requestBody(route, schemas)
  return {
    operationId: operationId(route),
    tags: [sectionOf(route).tag],
    summary: route.summary,
    description: describe(route),
    security: securityOf(route),
    parameters: [...pathParameters(route, shared), ...queryParameters(route, schemas), ...headers(route)],
    ...(body && { requestBody: body }),
    responses: { [statusOf(route)]: success(route, schemas), ...refused.of(route) },
    'x-codeSamples': [{ lang: 'Shell', label: 'curl', source: curl(route, shared) }],
    ...(route.inferred && { 'x-inferred': true }),
  }
}

/** The place of a row in the reference. */
export function sectionOf({ section, operation }: AnyRoute): Section {
  if (!section) throw new Error(`${operation} stands in no section: put it into one of services/api/routes`)
  return section
}

const consistencies: Readonly<Record<AnyRoute['kind'], string | undefined>> = {
  create: undefined,
  history: 'Always current, oldest first.',
  change: undefined,
  show: 'Always current.',
  items: undefined,
  list: 'Shows what you wrote before through the same process; send `Min-Position` to be sure everywhere.',
  perform: undefined,
  redirect: undefined,
}

function describe(route: AnyRoute): string {
  const { operation, kind, from, environment, idempotency, page } = route
  return [
    needOf(route),
    from?.kind === 'projection' && kind === 'show' ? undefined : consistencies[kind],
    environment === 'sandbox only' && 'Not found in live.',
    environment === 'either' && 'The same in both environments.',
    idempotency && 'In live, `Idempotency-Key` is required, to prevent duplicate disbursements.',
    page && 'A browser that asks for `text/html` gets a page.',
    operation.includes('/api/v1/merchant/') && 'The legacy path without `/v1` is the same operation.',
  ]
    .filter(Boolean)
    .join(' ')
}

function needOf(route: AnyRoute): string {
  if (!takesCredentials(route)) return 'Needs no credential.'
  const isScope = route.scope !== 'public' && route.scope !== 'own'
  return isScope ? `Needs the scope \`${route.scope}\`.` : 'Needs no scope.'
}

function pathParameters(route: AnyRoute, { idPrefixes }: Shared): Json[] {
  return namesIn(route).map((name) => {
    const kinds = kindsOf(route, name)
    const place = { name, in: 'path', required: true }
    if (kinds.includes('text'))
      return {
        ...place,
        description: `The ${name}, as it was sent`,
        schema: { type: 'string' },
        example: 'order-1042',
      }
    return { ...place, ...idParameter(kinds, idPrefixes) }
  })
}

const namesIn = ({ operation }: AnyRoute) => [...operation.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!)
const kindsOf = ({ params }: AnyRoute, name: string) => [params?.[name] ?? 'text'].flat()

const hex = '[0-9a-fA-F]'
const uuidPattern = `(${hex}{32}|${hex}{8}(-${hex}{4}){3}-${hex}{12})`

/** Ids are accepted in either spelling: prefix and 32 hex digits, or the bare UUID. */
function idParameter(kinds: readonly string[], idPrefixes: Shared['idPrefixes']): Json {
  const known = kinds.flatMap((kind) => idPrefixes[kind] ?? [])
  const [first] = known
  const what = kinds[0]!.replaceAll('_', ' ')
  if (first === undefined) {
    return {
      description: `Id of the ${what}: a UUID`,
      schema: { type: 'string', pattern: `^${uuidPattern}$` },
      example: exampleIds.bare,
    }
  }
  return {
    description: `Id of the ${what} (\`${known.join('_…` or `')}_…\`), or the bare UUID`,
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
    ...(schema['type'] === 'array' && { style: 'form', explode: isRepeated(name) }),
    schema: schemas.at(
      schema,
      [ownerName(route), pascal(operationId(route))].map((one) => one + pascal(name)),
    ),
  }))
}

function headers(route: AnyRoute): Json[] {
  const names = [
    route.environment === 'required' ? 'EnvironmentRequired' : takesCredentials(route) && 'Environment',
    !route.operation.startsWith('GET ') && (route.idempotency ? 'IdempotencyKeyOfPayouts' : 'IdempotencyKey'),
    route.kind === 'list' && 'MinPosition',
    takesIfMatch(route) && 'IfMatch',
    'RequestId',
  ].filter((name) => typeof name === 'string')
  return names.map((name) => ({ $ref: `#/components/parameters/${name}` }))
}

function requestBody(route: AnyRoute, schemas: NamedSchemas): Json | undefined {
  if (!route.body) return undefined
  const required: readonly unknown[] =
    (route.body as TSchema & { required?: readonly string[] }).required ?? []
  const content = { schema: schemas.at(route.body), examples: examplesOf(route, route.body) }
  return {
    required: required.length > 0,
    content: {
      'application/json': content,
      ...(route.form && { 'application/x-www-form-urlencoded': { schema: content.schema } }),
    },
  }
}

export function examplesOf({ examples }: AnyRoute, body: TSchema): NamedExamples {
  return examples ?? { body: { summary: 'A request', value: exampleOf(body) } }
}

function success(route: AnyRoute, schemas: NamedSchemas): Json {
  const status = statusOf(route)
  const isCurrent = route.kind === 'show' && route.from?.kind !== 'projection'
  const isWrite = !route.operation.startsWith('GET ')
  const named = [
    'Ikw-Request-Id',
    ...(status === 201 || status === 302 || route.kind === 'create' ? ['Location'] : []),
    ...(isWrite ? ['Idempotent-Replayed'] : []),
    ...(takesIfMatch(route) || isCurrent || route.subject ? ['ETag'] : []),
    ...(isCurrent ? ['Ikw-Log-Index'] : []),
    ...(route.scope === 'public' ? [] : ['Ledger-Position']),
    ...(!takesCredentials(route)
      ? []
      : ['RateLimit-Policy', 'RateLimit', 'X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset']),
  ]
  const headers = Object.fromEntries(named.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
  const description = { 200: 'Done', 201: 'Created', 202: 'Accepted', 302: 'Go on there' }[status]
  if (route.kind === 'redirect') return { description, headers }
  const answer = answerOf(route)
  const example = exampleOf(answer, { url: partsOf(route).path.replace('{id}', exampleIds.bare) })
  return {
    description,
    headers,
    content: {
      'application/json': { schema: schemas.answered(answer), example },
      ...(route.page && { 'text/html': { schema: { type: 'string' } } }),
    },
  }
}

/** Path parameters in examples. */
function exampleIn(route: AnyRoute, name: string, idPrefixes: Shared['idPrefixes']): string {
  const [kind = ''] = kindsOf(route, name)
  if (kind === 'text') return 'order-1042'
  const prefix = idPrefixes[kind]
  return prefix ? exampleIds.of(prefix) : exampleIds.bare
}

function curl(route: AnyRoute, { baseUrl, idPrefixes }: Shared): string {
  const { method, path } = partsOf(route)
  const address = path.replace(/\{(\w+)\}/g, (_, name: string) => exampleIn(route, name, idPrefixes))
  const body =
    route.body &&
    JSON.stringify(Object.values(examplesOf(route, route.body))[0]!.value).replaceAll("'", "'\\''")
  return [
    `curl ${method === 'GET' ? '' : `-X ${method} `}${baseUrl}${address}`,
    ...(!takesCredentials(route) ? [] : ['-H "Authorization: Bearer $IKW_API_KEY"']),
    ...(route.environment === 'required' ? ['-H "Ikw-Environment: sandbox"'] : []),
    ...(method === 'GET' ? [] : ['-H "Idempotency-Key: order-1042"']),
    ...(body ? ['-H "Content-Type: application/json"', `-d '${body}'`] : []),
  ].join(' \\\n  ')
}
