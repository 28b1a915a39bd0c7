import { credentialsOf, takesCredentials } from '../access/callers.ts'
import { takesIfMatch } from '../lists/query.ts'
import { partsOf } from '../openapi/names.ts'
import { refusals, type RefusalName } from '../refusals.ts'
import type { AnyRoute } from '../routes.ts'

const ofEvery: readonly RefusalName[] = [
  'request_must_be_valid',
  'service_must_not_fail',
  'dependency_must_be_available',
  'history_must_be_whole',
  'dependency_must_answer_in_time',
  'service_must_not_be_overloaded',
  'rate_must_be_within_the_limit',
]

const ofCredentials: readonly RefusalName[] = [
  'credential_must_be_given',
  'credential_must_be_well_formed',
  'credential_must_be_valid',
  'credential_must_not_be_expired',
  'credential_must_have_the_scope',
  'credential_must_be_taken_here',
  'environment_must_be_the_credentials',
  'address_must_be_on_the_allow_list',
  'merchant_must_not_be_suspended',
]

/** A user chooses merchant and environment with each request. */
const ofUsers: readonly RefusalName[] = ['user_must_be_a_member', 'live_must_be_open_to_the_merchant']

const ofPortals: readonly RefusalName[] = ['portal_token_must_be_valid', 'portal_must_allow_it']

const ofBodies: readonly RefusalName[] = [
  'body_must_not_be_too_large',
  'body_must_be_json',
  'content_type_must_be_json',
  'body_must_arrive_in_time',
  'content_encoding_must_be_known',
]

const ofWrites: readonly RefusalName[] = [
  'idempotency_key_must_be_for_one_request',
  'idempotent_request_must_have_ended',
  'resource_must_not_have_changed',
]

/**
 * Every refusal that an operation may return: those of its row, and those that follow from the kind of row.
 * By status.
 */
export function refusalsOf(route: AnyRoute): readonly RefusalName[] {
  const { method, path } = partsOf(route)
  const names: RefusalName[] = [...ofEvery, ...(route.refusals ?? [])]
  if (takesCredentials(route)) names.push(...ofCredentials)
  if (credentialsOf(route).includes('user')) names.push(...ofUsers)
  if (credentialsOf(route).includes('customer_portal')) names.push(...ofPortals)
  if (method !== 'GET') names.push(...ofBodies, ...ofWrites)
  if (route.challenge) names.push('challenge_must_be_verified')
  if (route.environment === 'required') names.push('environment_header_must_be_given')
  if (route.idempotency === 'required in live') names.push('live_payout_must_have_an_idempotency_key')
  if (takesIfMatch(route)) names.push('resource_must_be_as_it_was_seen')
  if (path.includes('{') || route.environment === 'sandbox only') names.push('resource_must_exist')
  if (route.kind === 'list') names.push('read_model_must_have_caught_up', 'read_must_not_take_too_long')
  if (method === 'GET' && looksFurther(route)) names.push('read_must_not_take_too_long')
  return [...new Set(names)].sort((one, other) => refusals[one][0] - refusals[other][0])
}

/** Whether it reads more than one stream and its row. */
function looksFurther({ kind, beside, from }: AnyRoute): boolean {
  if (kind === 'show') return beside !== undefined || from?.kind === 'projection'
  return kind === 'perform' || kind === 'items'
}
