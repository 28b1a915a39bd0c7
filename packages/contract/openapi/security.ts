import { credentialsOf, type CredentialKind } from '../access/callers.ts'
import type { AnyRoute } from '../routes.ts'
import type { Json } from './schemas.ts'

interface Scheme {
  readonly name: string
  readonly description: string
}

/** All are sent as `Authorization: Bearer …` and distinguished by their format. */
const schemes: Readonly<Record<Exclude<CredentialKind, 'nobody'>, Scheme>> = {
  api_key: {
    name: 'ApiKey',
    description: 'A secret key of a server of the merchant: `ik_test_…` in sandbox, `ik_live_…` in live.',
  },
  app_token: {
    name: 'AppToken',
    description: 'A token of an application that works for the merchant: `ik_app_test_…` or `ik_app_live_…`.',
  },
  user: {
    name: 'UserSession',
    description: 'The access token of somebody who has signed in; what it may do follows from the role.',
  },
  customer_portal: {
    name: 'CustomerPortal',
    description: "The token of a customer's portal, which shows what is that customer's alone.",
  },
}

/** Any one of the row's credentials; an empty requirement where none is needed. */
export function securityOf(route: AnyRoute): Json[] {
  const taken = credentialsOf(route)
  if (taken.length === 1 && taken[0] === 'nobody') return []
  const scopes = route.scope === 'public' || route.scope === 'own' ? [] : [route.scope]
  return taken.map((kind) => (kind === 'nobody' ? {} : { [schemes[kind].name]: scopes }))
}

/** A security scheme for every kind of credential that some row takes. */
export function securitySchemesOf(routes: readonly AnyRoute[]): Json {
  const taken = new Set(routes.flatMap(credentialsOf))
  return Object.fromEntries(
    Object.entries(schemes)
      .filter(([kind]) => taken.has(kind as CredentialKind))
      .map(([, { name, description }]) => [name, { type: 'http', scheme: 'bearer', description }]),
  )
}
