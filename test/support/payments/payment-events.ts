import { plainPlan, plainPurpose } from '../../../packages/domain/ledger/plans.ts'
import type { PaymentIntentEvents } from '../../../packages/domain/payment-intents/events.ts'
import type { Message } from '../../../packages/kernel/decider.ts'

type Happening = Message<PaymentIntentEvents>
type Succeeded = PaymentIntentEvents['PaymentIntentSucceeded']

/** A plain payment, which goes to the merchant. */
export function paidFor(data: Omit<Succeeded, 'purpose' | 'template' | 'credits'>): Happening {
  const credits = [{ account: 'merchant.available', amount: data.amount - data.fee } as const]
  const posted = { purpose: plainPurpose, template: 'payment.succeeded', credits } as const
  return { type: 'PaymentIntentSucceeded', data: { ...data, ...posted, credits } }
}

export const reserve = (of: string, amount: number): Happening => {
  const shares = [{ account: 'merchant.available', amount } as const]
  return { type: 'PaymentIntentRefundReserved', data: { refund: of, amount, shares } }
}

export const wanted = {
  amount: 5_000,
  currency: 'XOF',
  transactionCountry: 'SN',
  payerCountry: null,
  railCountry: null,
  description: null,
  customer: null,
}
export const created: Happening = {
  type: 'PaymentIntentCreated',
  data: { ...wanted, metadata: {}, purpose: plainPurpose, plan: plainPlan(wanted.amount) },
}
