import { objectName } from '../resource.ts'
import type { AnyRoute } from '../routes.ts'
import type { TSchema } from '../vocabulary.ts'

/** Names for which the rule below would give one that readers would not expect. */
const named: Readonly<Record<string, string>> = {
  'GET /api/v1/merchant/settings/payouts': 'getMerchantPayoutSettings',
  'PATCH /api/v1/merchant/settings/payouts': 'updateMerchantPayoutSettings',
  'POST /api/v1/merchant/settings/payouts/destinations': 'createMerchantPayoutDestination',
  'DELETE /api/v1/merchant/settings/payouts/destinations/{id}': 'deleteMerchantPayoutDestination',
  'DELETE /api/v1/auth/sessions': 'deleteOtherAuthSessions',
  'POST /api/v1/checkout/sessions/{id}/fee_quote': 'quoteCheckoutSessionFee',
  'GET /checkout/session/{sessionId}': 'getCheckoutPage',
  'POST /checkout/session/{sessionId}/pay': 'payOnCheckoutPage',
  'POST /checkout/session/{sessionId}/cancel': 'cancelOnCheckoutPage',
  'POST /checkout/session/{sessionId}/retry': 'retryOnCheckoutPage',
  'GET /api/v1/customer-portal/session': 'getOwnCustomerPortal',
  'GET /pay/{slug}': 'followPaymentLink',
}

const verbs: Readonly<Record<string, string>> = {
  GET: 'get',
  POST: 'create',
  PUT: 'replace',
  PATCH: 'update',
  DELETE: 'delete',
}

/** The stable name of an operation: `POST /api/v1/payment-intents/{id}/confirm` is `confirmPaymentIntent`. */
export function operationId(route: AnyRoute): string {
  const known = named[route.operation]
  if (known !== undefined) return known
  const { method, path } = partsOf(route)
  const segments = path.replace(/^\/(api\/)?(v1\/)?/, '').split('/')
  const last = segments.at(-1)!
  const owner = segments.filter((segment) => !isParameter(segment)).map(singular)
  if (isParameter(last)) return camel(method === 'POST' ? 'update' : verbs[method]!, ...owner)
  if (method === 'POST' && segments.some(isParameter)) return actionName(owner)
  if (method === 'GET' && isList(route)) return camel('list', ...owner.slice(0, -1), last)
  return camel(verbs[method]!, ...owner)
}

/** `rotate_secret` of a `webhook-endpoint` is `rotateWebhookEndpointSecret`. */
function actionName(words: readonly string[]): string {
  const [verb, ...rest] = words.at(-1)!.split('_')
  return camel(verb!, ...words.slice(0, -1), ...rest)
}

export function partsOf({ operation }: Pick<AnyRoute, 'operation'>): {
  readonly method: string
  readonly path: string
} {
  const [method, path] = operation.split(' ') as [string, string]
  return { method, path }
}

export function isList({ kind, returns }: AnyRoute): boolean {
  return kind === 'list' || objectName(returns) === 'list'
}

/** What a list that an action makes itself is of. */
export function itemOf(returns: TSchema): TSchema | undefined {
  return (returns as { properties?: { data?: { items?: TSchema } } }).properties?.data?.items
}

/** What a resource says it is, else what its address says. */
export function resourceName(route: AnyRoute, schema: TSchema): string {
  return (
    objectName(schema) ??
    singular(
      partsOf(route)
        .path.split('/')
        .findLast((segment) => !segment.startsWith('{'))!,
    )
  )
}

/** The resource that an operation is about: `Payout`. */
export function ownerName(route: AnyRoute): string {
  const { returns } = route
  const item = objectName(returns) === 'list' ? itemOf(returns) : undefined
  return pascal(resourceName(route, item ?? returns))
}

export function pascal(...words: readonly string[]): string {
  return words
    .flatMap((word) => word.split(/[^A-Za-z0-9]+/))
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('')
}

function camel(first: string, ...rest: readonly string[]): string {
  return first + pascal(...rest)
}

const isParameter = (segment: string) => segment.startsWith('{')

export function singular(word: string): string {
  if (/(us|ss|settings)$/.test(word)) return word
  return word.replace(/ies$/, 'y').replace(/s$/, '')
}
