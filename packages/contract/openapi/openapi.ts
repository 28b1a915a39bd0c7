import { componentsOf, nameSchemas } from './components.ts'
import { families, familyOf, placeOf, webhookTag, type Family } from './families.ts'
import { partsOf } from './names.ts'
import { operationOf } from './operation.ts'
import { RefusedResponses } from './refusals.ts'
import type { Json } from './schemas.ts'
import { description } from './text.ts'
import { webhooksOf, type WebhookData } from './webhooks.ts'
import type { AnyRoute } from '../routes.ts'

export interface DocumentOptions {
  readonly baseUrl: string
  readonly webhookData: WebhookData
}

export interface OpenApiDocument extends Json {
  readonly openapi: '3.1.0'
  readonly paths: Readonly<Record<string, Readonly<Record<string, Json>>>>
  readonly webhooks: Json
  readonly components: Json
}

/** The table of endpoints as an OpenAPI 3.1 document. */
export function openapi(
  routes: readonly AnyRoute[],
  { baseUrl, webhookData }: DocumentOptions,
): OpenApiDocument {
  const schemas = nameSchemas(routes, webhookData)
  const refused = new RefusedResponses()
  const paths = pathsOf(routes, (route) => operationOf(route, { schemas, refused, baseUrl }))
  const webhooks = webhooksOf(webhookData, schemas)
  return {
    openapi: '3.1.0',
    info: {
      title: 'IKW Payments API',
      version: '1.0.0',
      summary: 'Payments in, payouts out, and the books between them',
      description,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: baseUrl, description: 'The key decides the environment: sandbox or live' }],
    tags: tagsOf(routes).map(({ tag, description: text }) => ({ name: tag, description: text })),
    paths,
    webhooks,
    components: componentsOf(schemas, refused),
  }
}

function pathsOf(
  routes: readonly AnyRoute[],
  operation: (route: AnyRoute) => Json,
): OpenApiDocument['paths'] {
  const paths: Record<string, Record<string, Json>> = {}
  for (const route of routes.toSorted(inReadingOrder)) {
    const { method, path } = partsOf(route)
    paths[path] = { ...paths[path], [method.toLowerCase()]: operation(route) }
  }
  return paths
}

/** By section, then by address; the operations of one address as the table has them. */
function inReadingOrder(one: AnyRoute, other: AnyRoute): number {
  const [first, second] = [partsOf(one).path, partsOf(other).path]
  return placeOf(first) - placeOf(second) || first.localeCompare(second)
}

/** The sections that the table has, in the order of the reference. */
function tagsOf(routes: readonly AnyRoute[]): readonly Family[] {
  const used = new Map(
    routes.map((route) => familyOf(partsOf(route).path)).map((family) => [family.tag, family]),
  )
  const known = families.filter(({ tag }) => used.has(tag))
  const others = [...used.values()].filter(({ tag }) => !families.some((family) => family.tag === tag))
  return [...known, ...others, webhookTag]
}
