import { literals, record, Type, type Static } from '../../contract/vocabulary.ts'

/** Inferred: why a payout failed. The specification leaves the values of `failure_code` open. */
export const failureCodes = [
  'insufficient_funds',
  'recipient_not_found',
  'recipient_not_allowed',
  'recipient_limit_reached',
  'invalid_account',
  'invalid_account_number',
  'invalid_currency',
  'no_account',
  'account_closed',
  'account_frozen',
  'operator_declined',
  'operator_timeout',
  'operator_unavailable',
  'operator_liquidity',
  'provider_error',
  'returned',
  'canceled',
  'could_not_process',
  'unspecified',
] as const

/** `returned` is reserved for money that came back after it had arrived. */
export const operatorFailureCodes = failureCodes.filter((code) => code !== 'returned')

export const FailureCode = literals(...failureCodes)

export type FailureCode = Static<typeof FailureCode>

export const Failure = record({ code: FailureCode, message: Type.String() })

export type Failure = Static<typeof Failure>

/** An operator's code in our vocabulary. */
export function failureOf(code: string | null | undefined, message: string | null | undefined): Failure {
  const ours = operatorFailureCodes.find((each) => each === code)
  const unknown = code ? 'could_not_process' : 'unspecified'
  return { code: ours ?? unknown, message: message || 'The operator refused the payout' }
}
