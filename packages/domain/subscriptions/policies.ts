import { policy, to, type PolicyCommand } from '../../kernel/policy.ts'
import type { InvoiceEvents } from '../invoices/events.ts'
import { subscription } from './subscription.ts'

const arrears = policy<InvoiceEvents>('subscription_arrears', {
  InvoiceBecameOverdue: ({ id: invoice, data: { subscription: id, unpaidAt } }) => {
    return id === null ? [] : [to(subscription, id, { type: 'MarkPastDue', data: { invoice, unpaidAt } })]
  },
  InvoicePaid: settled,
  InvoiceVoided: settled,
  InvoiceMarkedUncollectible: settled,
})

function settled({
  id: invoice,
  data: { subscription: id },
}: {
  readonly id: string
  readonly data: { readonly subscription: string | null }
}): readonly PolicyCommand[] {
  return id === null ? [] : [to(subscription, id, { type: 'SettleArrears', data: { invoice } })]
}

export const subscriptionPolicies = [arrears]
