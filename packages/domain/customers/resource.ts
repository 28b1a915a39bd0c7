import { publicId } from '../../contract/identity.ts'
import {
  base,
  Currency,
  Metadata,
  nullable,
  record,
  SignedMinor,
  Type,
  unixSeconds,
  type Static,
} from '../../contract/vocabulary.ts'
import type { WebhookType } from '../../contract/webhook-types.ts'
import type { Customer, CustomerEvents } from './customer.ts'

export const CustomerResource = record({
  ...base('customer'),
  name: nullable(Type.String()),
  email: nullable(Type.String()),
  phone: nullable(Type.String()),
  currency: Currency,
  balance: SignedMinor,
  metadata: Metadata,
})

export type CustomerView = Static<typeof CustomerResource>

/**
 * Inferred: nothing in the specification gives a customer a name or metadata, and a wallet is not filled
 * here.
 */
export function viewCustomer(id: string, state: Customer): CustomerView | undefined {
  if (state.status !== 'active') return undefined
  const { livemode, createdAt, email, phone, currency } = state
  return {
    id: publicId('customer', id),
    object: 'customer',
    livemode,
    created: unixSeconds(createdAt),
    name: null,
    email,
    phone,
    currency,
    balance: 0,
    metadata: {},
  }
}

/** Spec, Webhook event: the currency is in lower case. */
export function customerWebhook(id: string, state: Customer) {
  const view = viewCustomer(id, state)
  return view && { ...view, currency: view.currency.toLowerCase() }
}

/** Domain model 6. */
export const customerPublicEvents: Readonly<Partial<Record<keyof CustomerEvents, WebhookType>>> = {
  CustomerCreated: 'customer.created',
}
