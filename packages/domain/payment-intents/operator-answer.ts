import type { Message } from '../../kernel/decider.ts'
import type { RailState } from '../../kernel/ports/rails.ts'
import { paymentFailureCodes, type PaymentFailureCode } from './events.ts'
import type { PaymentIntentCommands } from './payment-intent.ts'

/** The command that records an operator's statement about a confirmation. */
export function commandAfter(operationId: string, state: RailState): Message<PaymentIntentCommands> {
  switch (state.state) {
    case 'never_received':
      return { type: 'AbortConfirmation', data: { operationId } }
    case 'pending':
      return { type: 'RecordAcceptance', data: { operationId } }
    case 'redirect':
      return { type: 'RecordRedirect', data: { operationId, url: state.url } }
    case 'succeeded':
      return { type: 'CompletePayment', data: { operationId } }
    case 'failed':
      return failPayment(operationId, state.code, state.message)
    case 'returned':
      return failPayment(operationId, 'processing_error', 'The operator has given the money back')
  }
}

export function failPayment(
  operationId: string,
  code: string,
  message: string,
): Message<PaymentIntentCommands> {
  return { type: 'FailPayment', data: { operationId, code: failureCodeOf(code), message } }
}

/** Inferred: operators' codes for the same thing. */
const otherNames: Readonly<Record<string, PaymentFailureCode>> = {
  operator_timeout: 'payment_timeout',
  expired: 'payment_timeout',
  operator_unavailable: 'provider_unavailable',
  operator_down: 'provider_unavailable',
  operator_declined: 'payer_declined',
  canceled: 'payer_declined',
  recipient_not_found: 'invalid_phone',
  invalid_account: 'invalid_phone',
  recipient_limit_reached: 'limit_reached',
}

function failureCodeOf(code: string): PaymentFailureCode {
  const known = paymentFailureCodes.find((each) => each === code)
  return known ?? otherNames[code] ?? 'processing_error'
}
