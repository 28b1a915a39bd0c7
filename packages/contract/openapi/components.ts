import { answerOf } from '../lists/query.ts'
import { isList, itemOf, operationId, ownerName, pascal, resourceName } from './names.ts'
import type { Shared } from './operation.ts'
import { NamedSchemas, type Json } from './schemas.ts'
import { securitySchemesOf } from './security.ts'
import { nameEvents, webhookEvent, webhookParameters } from './webhooks.ts'
import type { PublicSource } from '../webhooks/public-events.ts'
import { Problem } from '../refusals/problem.ts'
import { objectName } from '../resource.ts'
import type { AnyRoute } from '../routes.ts'
import { vocabulary, type TSchema } from '../vocabulary.ts'

/**
 * Names for all resources, lists, requests and events. The version that is read gives a resource its name; a
 * fuller one that only a write returns comes second.
 */
export function nameSchemas(routes: readonly AnyRoute[], sources: readonly PublicSource[]): NamedSchemas {
  const schemas = new NamedSchemas()
  schemas.name('Problem', Problem)
  const readsFirst = routes.toSorted((one, other) => Number(isWrite(one)) - Number(isWrite(other)))
  for (const route of readsFirst) nameAnswer(schemas, route)
  for (const route of routes) {
    const owner = ownerName(route)
    if (route.body) schemas.name(`${pascal(operationId(route))}Request`, route.body, { owner })
  }
  for (const { data, resource } of sources) {
    const name = pascal(objectName(data) ?? resource)
    schemas.name(name, data, { other: `${name}InWebhook` })
  }
  nameEvents(sources, schemas)
  // The parts inside are named in the same order, whichever schema asks for them first.
  for (const route of readsFirst) schemas.answered(answerOf(route))
  return schemas
}

function nameAnswer(schemas: NamedSchemas, route: AnyRoute): void {
  const { returns } = route
  const own = `${pascal(operationId(route))}Response`
  if (route.kind === 'list') {
    const item = nameItem(schemas, route, returns)
    schemas.name(`${item}${route.paging === 'page' ? 'Page' : 'List'}`, answerOf(route), { other: own })
  } else if (isList(route)) {
    const item = itemOf(returns)
    schemas.name(`${item ? nameItem(schemas, route, item) : pascal(operationId(route))}List`, returns, {
      other: own,
    })
  } else {
    const isDeletion = 'deleted' in ((returns['properties'] as object | undefined) ?? {})
    const owner = pascal(resourceName(route, returns))
    schemas.name(pascal(isDeletion ? 'deleted' : '', owner), returns, { other: own, owner })
  }
}

function nameItem(schemas: NamedSchemas, route: AnyRoute, item: TSchema): string {
  const name = pascal(resourceName(route, item))
  schemas.name(name, item, { other: `${pascal(operationId(route))}Item` })
  return name
}

function isWrite({ operation }: AnyRoute): boolean {
  return !operation.startsWith('GET ')
}

/** Everything that operations refer to. Built last, once all references are known. */
export function componentsOf(
  { schemas, refused }: Pick<Shared, 'schemas' | 'refused'>,
  routes: readonly AnyRoute[],
  sources: readonly PublicSource[],
): Json {
  schemas.answered(Problem)
  schemas.at(vocabulary.Environment)
  return {
    securitySchemes: securitySchemesOf(routes),
    parameters: { ...requestHeaders, ...webhookParameters },
    headers: responseHeaders,
    examples: refused.examples(),
    schemas: { ...schemas.components(), WebhookEvent: webhookEvent(sources) },
  }
}

const environment = {
  name: 'Ikw-Environment',
  in: 'header',
  schema: { $ref: '#/components/schemas/Environment' },
  example: 'sandbox',
}

const idempotencyKey = {
  name: 'Idempotency-Key',
  in: 'header',
  schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[\\x21-\\x7e]+$' },
  example: 'order-1042',
}

const requestHeaders: Json = {
  Environment: {
    ...environment,
    required: false,
    description: 'When sent, it must be the environment of the credential.',
  },
  EnvironmentRequired: {
    ...environment,
    required: true,
    description: 'Must be the environment of the credential.',
  },
  IdempotencyKey: {
    ...idempotencyKey,
    required: false,
    description:
      'Your own name for this request: sent again with the same body, it answers the same and does ' +
      'nothing twice.',
  },
  IdempotencyKeyOfPayouts: {
    ...idempotencyKey,
    required: false,
    description:
      '**Required in live.** Your own name for this payout: sent again with the same body, it answers the ' +
      'same payout.',
  },
  IfMatch: {
    name: 'If-Match',
    in: 'header',
    required: false,
    description:
      'The `ETag` of what you have read: a resource that has changed since is left alone, with 412.',
    schema: { type: 'string', maxLength: 20 },
  },
  MinPosition: {
    name: 'Min-Position',
    in: 'header',
    required: false,
    description:
      'A `Ledger-Position` that a write has answered: the list shows at least that, or answers 503 after ' +
      '1 s.',
    schema: { type: 'string', maxLength: 64 },
  },
  RequestId: {
    name: 'X-Request-Id',
    in: 'header',
    required: false,
    description:
      'Your id of this request, of 1 to 128 visible ASCII characters: answered as `Ikw-Request-Id`, and ' +
      'kept in logs and in the history of resources. Anything else is ignored.',
    schema: { type: 'string' },
  },
}

const text = { type: 'string' }
const count = { type: 'integer', minimum: 0 }

const responseHeaders: Json = {
  'Ikw-Request-Id': { description: 'Id of this request, for support', schema: text },
  Location: { description: 'Path of what was created', schema: { type: 'string', format: 'uri-reference' } },
  'Ledger-Position': {
    description: 'What this answer shows at least, as a text that says nothing else; see `Min-Position`',
    schema: text,
  },
  ETag: { description: 'Revision of the resource; see `If-Match`', schema: text },
  'Ikw-Log-Index': {
    description: 'Of its last event in the log, once that is signed; `/api/v1/audit/receipts/{id}` proves it',
    schema: count,
  },
  'Idempotent-Replayed': {
    description: '`true` when this is the answer of an earlier request with the same key',
    schema: { type: 'string', const: 'true' },
  },
  'Retry-After': { description: 'Seconds after which to try again, where it helps', schema: count },
  'WWW-Authenticate': { description: 'How to authenticate', schema: text },
  'RateLimit-Policy': { description: 'Requests per window of this key: `"key";q=100;w=1`', schema: text },
  RateLimit: { description: 'What is left and when it is filled up: `"key";r=99;t=1`', schema: text },
  'X-RateLimit-Limit': { description: 'Requests per second of this key', schema: count },
  'X-RateLimit-Remaining': { description: 'Requests that are left', schema: count },
  'X-RateLimit-Reset': { description: 'Seconds until they are filled up', schema: count },
}
