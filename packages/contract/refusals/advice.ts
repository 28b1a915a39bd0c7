import type { RefusalName } from '../refusals.ts'

/**
 * What a merchant's developer should do about each refusal. A refusal without a line here does not compile.
 */
export const advice: Readonly<Record<RefusalName, string>> = {
  credential_must_be_given: 'Send `Authorization: Bearer <key>`.',
  credential_must_be_well_formed: 'Send the word `Bearer`, a space and the complete key, without quotes.',
  credential_must_be_valid:
    'Check the key: it was never issued here. Keys begin with `ik_test_` or `ik_live_`.',
  credential_must_not_be_expired: 'Use the key that replaced this one.',
  credential_must_have_the_scope: 'Use a key with the scope that the detail names.',
  credential_must_be_taken_here: 'Use one of the kinds of credentials that the detail names.',
  challenge_must_be_verified:
    'Let the user verify a challenge for this purpose, and send its `challengeId` once.',
  environment_must_be_the_credentials:
    'Use the key of that environment, or send the environment of this key.',
  address_must_be_on_the_allow_list: "Call from a listed address, or add this one to the key's list.",
  merchant_must_not_be_suspended: 'Contact support; no change to the request helps.',
  user_must_be_a_member:
    'Switch to a merchant of `GET /api/v1/auth/merchants`, or ask its owner for an invitation.',
  live_must_be_open_to_the_merchant:
    'Complete the steps of `GET /api/v1/onboarding/steps`, or work in the sandbox.',
  user_must_not_be_a_member_yet: 'Nothing needs to be done; `GET /api/v1/merchant/team` shows the role.',
  member_must_not_outrank_the_caller: 'Let an owner do it.',
  invitations_must_not_be_too_many: 'Revoke those that nobody will accept.',
  invitation_must_be_open: 'Ask the merchant for another invitation.',
  organization_must_exist: 'Use one of `GET /api/v1/organizations/mine`.',
  organization_must_have_the_parent_of_its_type: 'Send `parentId` with those types, and only with those.',
  merchant_must_exist: 'Use one of `GET /api/v1/auth/merchants`.',
  merchant_must_keep_an_owner: 'Make somebody else an owner first.',

  email_and_password_must_be_right:
    'Correct them, or ask for a link with `POST /api/v1/auth/forgot-password`.',
  password_must_be_right: 'Send the password that the user signs in with today.',
  code_must_be_right: 'Let the user read the code again; after five wrong ones ask for a new challenge.',
  phone_must_be_free: 'Take another number, or sign in with the account that has this one.',
  passkey_must_be_registered:
    'Register a passkey first, or ask for a challenge that is answered with a code.',
  passkey_must_be_new: 'Use another device, or sign in with this one.',
  passkeys_must_be_within_the_limit: 'Remove one that is no longer used.',
  google_must_be_connected: 'Nothing needs to be done; `GET /api/v1/auth/mfa` shows what is connected.',
  google_must_not_be_connected_yet: 'Disconnect it first, with `POST /api/v1/auth/google/disconnect`.',
  google_account_must_be_free: 'Choose another Google account, or sign in with this one.',
  google_account_must_be_known:
    'Let the user sign in otherwise, and connect it with `POST /api/v1/auth/google/connect`.',
  user_must_keep_a_way_to_sign_in: 'Choose a password first.',
  challenge_must_be_pending: 'Ask for a new challenge.',
  totp_must_be_off: 'Turn it off first, with `POST /api/v1/auth/mfa/totp/disable`.',
  totp_must_be_on: 'Set one up first, with `POST /api/v1/auth/mfa/totp/setup`.',
  totp_setup_must_be_the_newest: 'Begin again with `POST /api/v1/auth/mfa/totp/setup`.',
  token_must_be_valid: 'Ask for a new link or sign in again: each token is used once, and only the newest.',
  sign_in_must_not_be_locked: 'Wait for `Retry-After`, or set a new password with a mailed link.',
  password_must_be_hard_to_guess: 'Take a longer one, such as four words that do not belong together.',
  email_must_be_free: 'Sign in, or ask for a link with `POST /api/v1/auth/forgot-password`.',
  email_must_be_verified: 'Open the mailed link; `POST /api/v1/auth/verify-email/resend` mails it again.',
  email_must_not_be_verified_yet: 'Nothing needs to be done.',

  request_must_be_valid:
    'Correct the fields that `errors` names. Unknown fields and query parameters are refused as well.',
  unit_amount_must_have_a_currency: 'Send `currency` with `unit_amount`, or neither.',
  live_payout_must_have_an_idempotency_key:
    'Send an `Idempotency-Key` of your own, the same one when you repeat the request.',
  idempotency_key_must_be_for_one_request:
    'Use a new key for a new request; repeat the old one with exactly its old body.',
  idempotent_request_must_have_ended:
    'Wait for `Retry-After` and repeat the request: it returns the result of the first one.',
  environment_header_must_be_given: 'Send `Ikw-Environment: sandbox` or `Ikw-Environment: live`.',
  body_must_not_be_too_large: 'Send at most 256 KB.',
  content_type_must_be_json: 'Send the header `Content-Type: application/json`.',
  body_must_be_json: 'Send one JSON document in UTF-8, with each member once and at most 20 levels deep.',
  body_must_arrive_in_time: 'Send the same request again, with its idempotency key.',
  content_encoding_must_be_known: 'Send the body uncompressed, or compressed with gzip.',
  request_must_be_http:
    'Send HTTP/1.1 with a `Host`, a single body length and no control characters in headers.',
  headers_must_not_be_too_large: 'Keep headers and URL together below 16 KB.',
  method_must_be_allowed: 'Use one of the methods in the header `Allow`.',

  api_key_must_be_active: 'Roll the key that has taken its place, or issue another one.',
  resource_must_exist:
    "Check the id, and that it belongs to the key's environment. Other merchants' resources are reported as missing too.",
  payout_must_not_be_abandoned: 'Ask again with another idempotency key.',
  payout_must_be_pending: 'Read the payout: what has been sent can no longer be canceled.',
  payout_must_be_in_transit: 'Read the payout and decide by its status.',
  payout_must_be_under_way: 'Read the payout: it has ended already.',
  payout_must_be_paid: 'Read the payout: only one that was paid can come back.',
  payout_must_be_returnable: 'Settle it with the operator: the books take it back for 90 days.',
  payout_must_have_failed: 'Read the payout: only one on record as failed can be charged again or paid late.',
  refund_must_not_be_abandoned: 'Ask again with another idempotency key.',
  contact_change_must_be_pending: 'Ask for a new change.',
  checkout_session_must_be_open: 'Read the session and decide by its status.',
  checkout_session_must_be_paid: 'Wait until the session is paid.',
  checkout_payment_must_not_be_under_way: 'Wait for its result, then read the session again.',
  intervention_must_have_two_names: 'Let somebody else approve it.',
  confirmation_must_be_the_only_one:
    'Wait a moment and read the intent, or confirm it again: the operator is called only once.',
  resource_must_not_have_changed: 'Send the same request again; it is decided on the new state.',
  resource_must_be_as_it_was_seen: 'Read it again, and send its new `ETag` as `If-Match`.',
  resource_must_not_exist_yet: 'Use what is already there.',

  rate_must_be_within_the_limit: 'Wait for `Retry-After`, and spread the requests.',
  service_must_not_fail: 'Tell support the `request_id`. Repeat a write only with its idempotency key.',
  event_must_be_signed: 'Ask again after `Retry-After`: events are signed about once a second.',
  month_must_be_over: "Close it when its last day is over in the merchant's time zone.",
  month_must_not_be_in_work: 'Ask again after `Retry-After`.',
  month_must_be_countable: 'Close it again after `Retry-After`: it goes on where it stopped.',
  history_must_be_whole: 'Tell support the `request_id`. Nothing was changed; other resources work as usual.',
  dependency_must_be_available: 'Send the same request again after `Retry-After`, with its idempotency key.',
  read_must_not_take_too_long:
    'Narrow the request: a longer search text, a filter, a shorter period, or `cursor` instead of a high `page`.',
  dependency_must_answer_in_time:
    'It may have been done: repeat it with the same idempotency key, or read the resource.',
  read_model_must_have_caught_up: 'Ask again after `Retry-After`, or leave `Min-Position` out.',
  service_must_not_be_overloaded:
    'Send the same request again after `Retry-After`, with its idempotency key.',

  payment_must_be_eligible:
    'Use a supported combination of country, currency and method; `/api/v1/geography/countries` lists them.',
  payment_method_must_be_valid: 'Correct the part of `payment_method` that `errors` names.',
  intent_must_be_cancelable:
    'Read the intent: it is in progress or has ended. Refund it if it has succeeded.',
  refund_must_not_exceed_the_payment: 'Refund at most what is left; without `amount`, all of it is refunded.',
  balance_must_cover_the_refund: 'Refund again when the balance covers it.',
  provider_must_accept_the_payment: 'Nothing was charged. Confirm again later, or offer another method.',
  payment_must_be_refundable:
    'Only payments that have succeeded and are not refunded in full can be refunded.',
  method_country_must_be_the_transactions:
    'Send the `transaction_country` of the intent as the country of the method.',
  customer_must_exist: 'Send the id of a customer of this environment, or `customer_email` to create one.',
  live_provider_must_be_configured:
    'Nothing was started. Ask support when this operator will be available in live; the sandbox works meanwhile.',

  checkout_session_must_exist: "Check the id, and that it belongs to the key's environment.",
  checkout_session_must_be_payable:
    'Read the session: it is paid, canceled or expired. Open another one to be paid again.',
  method_must_be_offered: 'Use one of `payment_method_types` of the session.',
  checkout_amount_must_be_known:
    "Send `amount`, or `paymentLinkId` of a link; leave out what the link gives, or send the link's.",
  payment_link_must_be_open: 'Ask whoever sent the link for another one.',
  payment_link_must_not_be_in_use:
    'Wait until that payment has ended: if it fails, the link can be paid again.',

  payout_must_have_one_valid_destination:
    'Send either `destination` or `payout_method_id`, with all fields of its type.',
  operator_must_be_known: 'Use an operator of that country from `/api/v1/geography/countries`.',
  balance_must_cover_amount_and_fees:
    'Pay out less, or wait until more is available: see `/api/v1/balance` and `/api/v1/fees/quote`.',
  operator_must_take_payouts: 'Choose an operator that supports payouts, or a bank account.',
  destination_must_be_past_its_safety_delay: 'Wait until `usable_from` of the destination.',
  destination_must_be_active: 'The destination was removed: save it again.',
  amount_must_be_within_the_limits: "Stay within the operator's minimum and maximum, or split the payout.",

  invoice_state_must_allow_it: 'Read the invoice again and decide by its status, and by what of it is paid.',
  subscription_must_be_running: 'Read the subscription: it has ended, or is unpaid. Start another one.',
  file_must_be_allowed: 'Send a PNG, JPEG or WebP within the limits that the detail names.',
  portal_token_must_be_valid: 'Open a new session for the customer: tokens are good for an hour.',
  portal_must_allow_it: 'Open a session with the permission that the detail names.',
  wallet_must_cover_the_amount:
    'Let the customer put money into the wallet; what was put in by card can be spent after two days.',
  plan_must_be_usage_based: 'Subscribe to a plan with `usageBasedEnabled`.',
  billing_terms_must_fit:
    'Correct the field that `errors` names: plans of one subscription share currency and interval, and the customer pays in that currency.',

  account_must_cover_the_amount: 'Use less, or wait until the account covers it.',
  balance_must_stay_countable: 'Use a smaller amount.',

  webhook_url_must_be_acceptable:
    'Use a public HTTPS URL (HTTP in sandbox only), without user name and password.',
  webhook_event_type_must_be_known: 'Use a type of [the list](/docs/webhooks), `prefix.*`, or `*`.',
  replay_must_name_an_event_or_an_endpoint: 'Send `event_id`, `webhook_endpoint_id` or both.',
  webhook_endpoints_must_not_be_too_many:
    'Use one endpoint for several event types, or disable one: after a day it no longer counts.',
  webhook_endpoint_must_be_enabled: 'Send `enabled: true` to the endpoint first.',
}
