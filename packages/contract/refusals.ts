import { merchantRefusals } from './refusals/merchant.ts'
import { stateRefusals } from './refusals/state.ts'
import { userRefusals } from './refusals/user.ts'
import { billingRefusals } from './refusals/billing.ts'

/**
 * Every way this service refuses a request. A refusal is named after the broken rule. Each line has status,
 * code, whether the same request may succeed later, and the message. Inferred, except IKW-RES-003: the
 * specification shows only that one.
 */
export const refusals = {
  ...merchantRefusals,
  ...stateRefusals,
  ...userRefusals,
  credential_must_be_given: [
    401,
    'IKW-AUTH-001',
    false,
    'No credential: the header Authorization is missing',
  ],
  credential_must_be_well_formed: [
    401,
    'IKW-AUTH-001',
    false,
    'Authorization must be `Bearer` and a complete key, which begins with ik_test_ or ik_live_',
  ],
  credential_must_be_valid: [401, 'IKW-AUTH-001', false, 'No such credential: it was never issued here'],
  credential_must_not_be_expired: [401, 'IKW-AUTH-002', false, 'Credential has expired or was revoked'],
  credential_must_have_the_scope: [403, 'IKW-AUTHZ-001', false, 'Credential lacks the scope'],
  credential_must_be_taken_here: [
    403,
    'IKW-AUTHZ-003',
    false,
    'This kind of credential is not accepted here',
  ],
  challenge_must_be_verified: [
    403,
    'IKW-AUTHZ-004',
    false,
    'A verified challenge for this purpose is required',
  ],
  environment_must_be_the_credentials: [
    403,
    'IKW-AUTHZ-002',
    false,
    'Credential belongs to the other environment',
  ],
  address_must_be_on_the_allow_list: [
    403,
    'IKW-AUTHZ-005',
    false,
    "Caller address is not on the key's allow list",
  ],

  request_must_be_valid: [400, 'IKW-REQ-001', false, 'Request is not valid (see errors)'],
  live_payout_must_have_an_idempotency_key: [
    400,
    'IKW-REQ-002',
    false,
    'Idempotency-Key header is required in live',
  ],
  idempotency_key_must_be_for_one_request: [
    409,
    'IKW-REQ-003',
    false,
    'Idempotency key was used for another request',
  ],
  idempotent_request_must_have_ended: [
    409,
    'IKW-REQ-004',
    true,
    'A request with this idempotency key is still running',
  ],
  environment_header_must_be_given: [
    400,
    'IKW-REQ-005',
    false,
    'Header Ikw-Environment (sandbox or live) is required',
  ],
  body_must_not_be_too_large: [413, 'IKW-REQ-006', false, 'Body is too large'],
  body_must_be_json: [400, 'IKW-REQ-007', false, 'Body is not JSON'],
  content_type_must_be_json: [415, 'IKW-REQ-012', false, 'Content-Type must be application/json'],
  body_must_arrive_in_time: [408, 'IKW-REQ-008', true, 'Request did not arrive in time'],

  content_encoding_must_be_known: [415, 'IKW-REQ-013', false, 'Content-Encoding is not gzip'],
  request_must_be_http: [400, 'IKW-REQ-010', false, 'Request is not valid HTTP'],
  headers_must_not_be_too_large: [431, 'IKW-REQ-011', false, 'Headers exceed 16 KB'],
  method_must_be_allowed: [405, 'IKW-REQ-009', false, 'Method is not allowed here'],

  resource_must_exist: [404, 'IKW-RES-001', false, 'Not found'],
  /** Spec, Errors. */
  confirmation_must_be_the_only_one: [
    409,
    'IKW-RES-003',
    true,
    'Payment intent confirmation is already in progress',
  ],
  resource_must_not_have_changed: [409, 'IKW-RES-003', true, 'Changed by someone else meanwhile'],
  resource_must_be_as_it_was_seen: [412, 'IKW-RES-005', false, 'Changed since it was read'],
  resource_must_not_exist_yet: [409, 'IKW-RES-004', false, 'Already exists'],

  rate_must_be_within_the_limit: [429, 'IKW-RATE-001', true, 'Too many requests'],
  service_must_not_fail: [500, 'IKW-SYS-001', false, 'Internal error'],
  dependency_must_be_available: [503, 'IKW-SYS-002', true, 'A dependency is unavailable'],
  dependency_must_answer_in_time: [504, 'IKW-SYS-003', true, 'A dependency did not answer in time'],
  read_model_must_have_caught_up: [503, 'IKW-SYS-004', true, 'Read model is behind the requested position'],
  event_must_be_signed: [503, 'IKW-SYS-008', true, 'The log has not signed this event yet'],
  month_must_be_over: [409, 'IKW-RES-002', false, 'The month is not over'],
  month_must_not_be_in_work: [409, 'IKW-RES-003', true, 'Months are being closed or opened just now'],
  month_must_be_countable: [
    503,
    'IKW-SYS-004',
    true,
    'Read models or signatures are behind the books, which are closed already',
  ],
  history_must_be_whole: [
    503,
    'IKW-SYS-007',
    false,
    'The stored history of this resource is damaged; nothing was changed, and our staff must repair it',
  ],
  read_must_not_take_too_long: [503, 'IKW-SYS-006', true, 'This search takes too long'],
  service_must_not_be_overloaded: [503, 'IKW-SYS-005', true, 'The service is overloaded at the moment'],

  payment_must_be_eligible: [400, 'IKW-TRANSFER-001', false, 'Country, currency or method is not eligible'],
  payment_method_must_be_valid: [400, 'IKW-TRANSFER-002', false, 'Payment method data is not valid'],
  intent_must_be_cancelable: [
    409,
    'IKW-TRANSFER-003',
    false,
    'Intent cannot be canceled or finished in this state',
  ],
  refund_must_not_exceed_the_payment: [
    400,
    'IKW-TRANSFER-004',
    false,
    'Refund exceeds what is left of the payment',
  ],
  balance_must_cover_the_refund: [402, 'IKW-TRANSFER-005', false, 'Balance does not cover the refund'],
  provider_must_accept_the_payment: [
    502,
    'IKW-TRANSFER-006',
    true,
    'Provider did not accept the payment; nothing was charged',
  ],
  payment_must_be_refundable: [409, 'IKW-TRANSFER-007', false, 'Payment is not refundable'],
  method_country_must_be_the_transactions: [
    400,
    'IKW-TRANSFER-008',
    false,
    'Method country must equal transaction_country',
  ],
  live_provider_must_be_configured: [
    503,
    'IKW-TRANSFER-010',
    false,
    'No live provider is configured for this operation',
  ],
  customer_must_exist: [400, 'IKW-TRANSFER-009', false, 'Customer does not exist'],

  checkout_session_must_exist: [404, 'IKW-CHK-001', false, 'Checkout session not found'],
  checkout_session_must_be_payable: [400, 'IKW-CHK-002', false, 'Session can no longer be paid'],
  method_must_be_offered: [400, 'IKW-CHK-003', false, 'Method is not offered in this session'],
  checkout_amount_must_be_known: [
    400,
    'IKW-CHK-004',
    false,
    'Amount is missing and no link gives it, or it differs from the link',
  ],
  payment_link_must_be_open: [410, 'IKW-RES-006', false, 'The payment link is closed'],
  payment_link_must_not_be_in_use: [
    409,
    'IKW-RES-007',
    true,
    'Somebody else is paying this link, which is for one payment',
  ],

  payout_must_have_one_valid_destination: [
    400,
    'IKW-PAYOUT-001',
    false,
    'Destination is missing, given twice or not valid',
  ],
  operator_must_be_known: [400, 'IKW-PAYOUT-002', false, 'Operator is not known in this country'],
  balance_must_cover_amount_and_fees: [
    402,
    'IKW-PAYOUT-003',
    false,
    'Available balance must cover the amount and its fees',
  ],
  operator_must_take_payouts: [400, 'IKW-PAYOUT-004', false, 'Operator does not support payouts'],
  destination_must_be_past_its_safety_delay: [
    403,
    'IKW-PAYOUT-005',
    false,
    'Saved destination is still in its safety delay',
  ],
  destination_must_be_active: [403, 'IKW-PAYOUT-006', false, 'Saved destination is not active'],
  amount_must_be_within_the_limits: [
    400,
    'IKW-PAYOUT-009',
    false,
    'Amount is outside the limits of the operator',
  ],

  ...billingRefusals,
  account_must_cover_the_amount: [402, 'IKW-LEDGER-001', false, 'Account does not cover the amount'],
  balance_must_stay_countable: [
    400,
    'IKW-LEDGER-004',
    false,
    'Balance would exceed the greatest exact amount',
  ],

  webhook_url_must_be_acceptable: [400, 'IKW-WEBHOOK-001', false, 'URL is not accepted'],
  webhook_event_type_must_be_known: [400, 'IKW-WEBHOOK-002', false, 'Event type is not known'],
  replay_must_name_an_event_or_an_endpoint: [
    400,
    'IKW-WEBHOOK-003',
    false,
    'Give an event, an endpoint or both',
  ],
  webhook_endpoint_must_be_enabled: [
    409,
    'IKW-WEBHOOK-005',
    false,
    'Webhook endpoint is disabled: enable it before sending events to it',
  ],
  webhook_endpoints_must_not_be_too_many: [
    409,
    'IKW-WEBHOOK-004',
    false,
    'Too many endpoints (20 per environment)',
  ],
} as const satisfies Record<
  string,
  readonly [status: number, code: string, retryable: boolean, message: string]
>

export type RefusalName = keyof typeof refusals

/**
 * One broken rule and its place in the request: a JSON pointer into the body, or `query:limit`,
 * `header:Ikw-Environment`, `path:id`.
 */
export interface Fault {
  readonly pointer: string
  readonly code: string
  readonly message: string
}

export interface RefusalDetails {
  /** What happened, in one sentence. Left out: the first fault with its field, else the table's message. */
  readonly detail?: string
  readonly faults?: readonly Fault[]
  readonly retryAfterSeconds?: number
}

export class Refusal extends Error {
  override readonly name = 'Refusal'
  readonly reason: RefusalName
  readonly details: RefusalDetails

  constructor(reason: RefusalName, details: RefusalDetails = {}) {
    super(details.detail ?? sentenceOf(details.faults) ?? refusals[reason][3])
    this.reason = reason
    this.details = details
  }
}

function sentenceOf(faults: RefusalDetails['faults']): string | undefined {
  const first = faults?.[0]
  return first && `${fieldNamed(first.pointer)} ${first.message}`
}

/** As people name it: `destination.msisdn`. */
export function fieldNamed(pointer: string): string {
  const name = pointer.replace(/^query:\/?/, 'query parameter ').replace(/^\//, '')
  return name.replaceAll('/', '.') || 'Body'
}

export function refuse(reason: RefusalName, details: RefusalDetails = {}): never {
  throw new Refusal(reason, details)
}

/**
 * Refuses one field of the body: `refuseField('operator_must_be_known', '/destination/operator', '"tigo" is
 * not …')`. A message that begins with its verb is told with the name of the field.
 */
export function refuseField(reason: RefusalName, pointer: string, message: string): never {
  const isSentence = !/^(?:must|is|are|would) /.test(message)
  throw new Refusal(reason, {
    ...(isSentence && { detail: message }),
    faults: [{ pointer, code: reason, message }],
  })
}
