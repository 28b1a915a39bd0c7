import { componentsOf, nameSchemas } from './components.ts'
import { partsOf } from './names.ts'
import { operationOf, sectionOf } from './operation.ts'
import { RefusedResponses } from './refusals.ts'
import type { Json } from './schemas.ts'
import { description } from './text.ts'
import { webhookSection, webhooksOf } from './webhooks.ts'
import type { PublicSource } from '../webhooks/public-events.ts'
import type { AnyRoute } from '../routes.ts'
import type { Section } from '../section.ts'

export interface DocumentOptions {
  readonly baseUrl: string
  /** The prefix of each kind of public id. */
  readonly idPrefixes: Readonly<Record<string, string>>
  readonly publicSources: readonly PublicSource[]
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
  { baseUrl, idPrefixes, publicSources }: DocumentOptions,
): OpenApiDocument {
  const schemas = nameSchemas(routes, publicSources)
  const refused = new RefusedResponses()
  const paths = pathsOf(routes, (route) => operationOf(route, { schemas, refused, baseUrl, idPrefixes }))
  const webhooks = webhooksOf(publicSources, schemas)
  return {
    openapi: '3.1.0',
    info: {
      title: 'IKW Payments API',
      version: '1.0.0',
      summary: 'Payments in, payouts out, and the books between them',
      description,
      contact: { name: 'IKW Payments', url: `${baseUrl}/docs` },
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: baseUrl, description: 'The key decides the environment: sandbox or live' }],
    tags: tagsOf(routes).map(({ tag, description: text }) => ({ name: tag, description: text })),
    paths,
    webhooks,
    components: componentsOf({ schemas, refused }, routes, publicSources),
  }
}

function pathsOf(
  routes: readonly AnyRoute[],
  operation: (route: AnyRoute) => Json,
): OpenApiDocument['paths'] {
  const paths: Record<string, Record<string, Json>> = {}
  for (const route of routes) {
    const { method, path } = partsOf(route)
    paths[path] = { ...paths[path], [method.toLowerCase()]: operation(route) }
  }
  return paths
}

/** Tags: the sections in the order of the table, and one for webhooks. */
function tagsOf(routes: readonly AnyRoute[]): readonly Section[] {
  return [
    ...new Map(routes.map((route) => [sectionOf(route).tag, sectionOf(route)])).values(),
    webhookSection,
  ]
}
