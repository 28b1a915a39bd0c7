import { derivedId } from '../../contract/identity.ts'
import { Currency, nullable, record, Timestamp, Type, Uuid } from '../../contract/vocabulary.ts'
import type { Decider } from '../../kernel/decider.ts'
import { stored, type EventsOf } from '../../kernel/event-types.ts'
import type { MerchantOwner } from '../../kernel/owner.ts'

const contact = { email: nullable(Type.String()), phone: nullable(Type.String()) }
const owner = { merchant: Type.String(), livemode: Type.Boolean(), at: Timestamp }

// Events

export const customerEvents = {
  CustomerCreated: stored(1, record({ ...owner, ...contact, currency: Currency })),
  /** Whoever made the customer knew only the other one. Null: as before. */
  CustomerContactAdded: stored(1, record({ ...owner, ...contact })),
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
  /** The contacts lead to this stream. `inCircle`: they do so only over each other. */
  CreateCustomer: { email: string | null; phone: string | null; currency: string; inCircle?: true }
  LinkContact: { customer: string }
}

export const customer: Decider<Customer, CustomerCommands, CustomerEvents> = {
  category: 'customer',
  events: customerEvents,
  initial: () => ({ status: 'none' }),

  decide: {
    CreateCustomer({ email, phone, currency, inCircle }, state, { merchant, livemode, now }) {
      const owner = { merchant, livemode, at: now.toISOString() }
      if (state.status === 'active') {
        const added = { email: state.email ? null : email, phone: state.phone ? null : phone }
        if (added.email === null && added.phone === null) return []
        return [{ type: 'CustomerContactAdded', data: { ...owner, ...added } }]
      }
      if (state.status === 'linked' && !inCircle) return []
      return [{ type: 'CustomerCreated', data: { ...owner, email, phone, currency } }]
    },

    LinkContact(link, { status }, { merchant, livemode, now }) {
      if (status !== 'none') return []
      const data = { merchant, livemode, at: now.toISOString(), customer: link.customer }
      return [{ type: 'CustomerContactLinked', data }]
    },
  },

  evolve: {
    CustomerCreated: (_, { at, ...details }) => ({ ...details, status: 'active', createdAt: at }),
    CustomerContactAdded: (state, { email, phone }) => {
      const known = existing(state)
      return { ...known, email: known.email ?? email, phone: known.phone ?? phone }
    },
    CustomerContactLinked: (_, link) => ({ status: 'linked', customer: link.customer }),
  },
}

function existing(state: Customer): Extract<Customer, { status: 'active' }> {
  if (state.status !== 'active') throw new Error('a contact was added to nobody')
  return state
}

const contacts = 'd0a7a5a3-54f0-5c1e-8f4e-0b8b0f6d2c11'

/**
 * The identity of a customer follows from the contact by which the customer was met first, so that two
 * requests at once make one. E-mail addresses are compared without regard to case.
 */
export function customerIdOf({ merchant, livemode }: MerchantOwner, contact: string): string {
  return derivedId(contacts, `${merchant} ${livemode} ${contact.toLowerCase()}`)
}
