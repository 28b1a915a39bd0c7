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
import type { Customer } from './customer.ts'

export const CustomerResource = record({
  ...base('customer', 'cus'),
  name: nullable(Type.String()),
  email: nullable(Type.String()),
  phone: nullable(Type.String()),
  currency: Currency,
  balance: { ...SignedMinor, description: "What is in the wallet, in the customer's own currency" },
  metadata: Metadata,
})

export type CustomerView = Static<typeof CustomerResource>

/** Inferred: the specification gives customers no name or metadata. Whoever is new has an empty wallet. */
export function viewCustomer(id: string, state: Customer, balance = 0): CustomerView | undefined {
  if (state.status !== 'active') return undefined
  const { livemode, createdAt, email, phone, currency } = state
  return {
    id: publicId('cus', id),
    object: 'customer',
    livemode,
    created: unixSeconds(createdAt),
    name: null,
    email,
    phone,
    currency,
    balance,
    metadata: {},
  }
}
