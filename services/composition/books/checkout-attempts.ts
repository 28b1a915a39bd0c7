import type { Attempt, ExistingSession } from '../../../packages/domain/checkout/checkout-session.ts'
import { payerPlan, plainPlan } from '../../../packages/domain/ledger/plans.ts'

interface Attempted extends Pick<
  ExistingSession,
  'currency' | 'country' | 'description' | 'payer' | 'feeMode'
> {
  readonly attempt: Attempt
}

/** Makes the intent of a session's newest try to pay; what it is about was fixed when it was attached. */
export function intentOfAttempt(session: string, state: Attempted) {
  const { attempt, currency, country, description, payer, feeMode } = state
  const { paymentIntent: id, amount, fee } = attempt
  const data = {
    amount: amount + fee,
    currency,
    transactionCountry: country,
    payerCountry: null,
    railCountry: null,
    description,
    metadata: {},
    customer: payer.customer,
    purpose: { type: 'checkout' as const, id: session },
    plan: feeMode === 'customer_pays' ? payerPlan(amount, fee) : plainPlan(amount),
  }
  return { id, command: { type: 'CreateIntent', data } as const }
}
