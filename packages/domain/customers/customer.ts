import { derivedId } from '../../contract/identity.ts'
import { Currency, nullable, record, Timestamp, Type, Uuid } from '../../contract/vocabulary.ts'
import type { Decider } from '../../kernel/decider.ts'
import { stored, type EventsOf } from '../../kernel/event-types.ts'
import type { MerchantOwner } from '../../kernel/owner.ts'

const owner = { merchant: Type.String(), livemode: Type.Boolean(), at: Timestamp }

// Events

export const customerEvents = {
  CustomerCreated: stored(
    1,
    record({ ...owner, email: nullable(Type.String()), phone: nullable(Type.String()), currency: Currency }),
  ),
  /** Inferred: this contact belongs to a customer who was found by another one. */
  CustomerContactLinked: stored(1, record({ ...owner, customer: Uuid })),
}

export type CustomerEvents = EventsOf<typeof customerEvents>

// State

interface Details extends Omit<CustomerEvents['CustomerCreated'], 'at'> {
  readonly createdAt: string
}

export type Customer =
  | { readonly status: 'none' }
  | { readonly status: 'linked'; readonly customer: string }
  | (Details & { readonly status: 'active' })

// Decisions. Whoever comes first to a contact's stream decides whose contact it is.

export type CustomerCommands = {
  CreateCustomer: { email: string | null; phone: string | null; currency: string }
  LinkContact: { customer: string }
}

export const customer: Decider<Customer, CustomerCommands, CustomerEvents> = {
  category: 'customer',
  events: customerEvents,
  initial: () => ({ status: 'none' }),

  decide: {
    CreateCustomer({ email, phone, currency }, { status }, { merchant, livemode, now }) {
      if (status !== 'none') return []
      const data = { merchant, livemode, at: now.toISOString(), email, phone, currency }
      return [{ type: 'CustomerCreated', data }]
    },

    LinkContact(link, { status }, { merchant, livemode, now }) {
      if (status !== 'none') return []
      const data = { merchant, livemode, at: now.toISOString(), customer: link.customer }
      return [{ type: 'CustomerContactLinked', data }]
    },
  },

  evolve: {
    CustomerCreated: (_, { at, ...details }) => ({ ...details, status: 'active', createdAt: at }),
    CustomerContactLinked: (_, link) => ({ status: 'linked', customer: link.customer }),
  },
}

const contacts = 'd0a7a5a3-54f0-5c1e-8f4e-0b8b0f6d2c11'

/**
 * The identity of a customer follows from the contact by which the customer was met first, so that two
 * requests at once make one. E-mail addresses are compared without regard to case.
 */
export function customerIdOf({ merchant, livemode }: MerchantOwner, contact: string): string {
  return derivedId(contacts, `${merchant} ${livemode} ${contact.toLowerCase()}`)
}
