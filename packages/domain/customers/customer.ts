import { derivedId } from '../../contract/identity.ts'
import { Currency, nullable, record, Type, Uuid } from '../../contract/vocabulary.ts'
import type { Decider } from '../../kernel/decider.ts'
import { sealedFor, stored, withoutStamp, type EventsOf } from '../../kernel/event-types.ts'
import type { MerchantOwner } from '../../kernel/owner.ts'
import { erasedText, personal } from '../../kernel/personal.ts'

const contact = { email: personal(nullable(Type.String())), phone: personal(nullable(Type.String())) }

// Events

export const customerEvents = {
  CustomerCreated: sealedFor(
    (_, id) => `customer/${id}`,
    stored(2, record({ ...contact, currency: Currency }), { 1: withoutStamp }),
  ),
  /** The process that created the customer knew only the other contact. Null: unchanged. */
  CustomerContactAdded: sealedFor(
    (_, id) => `customer/${id}`,
    stored(2, record(contact), { 1: withoutStamp }),
  ),
  /** Inferred: this contact belongs to a customer who was found by another one. */
  CustomerContactLinked: stored(2, record({ customer: Uuid }), { 1: withoutStamp }),
}

export type CustomerEvents = EventsOf<typeof customerEvents>

// State

interface Details extends MerchantOwner, Readonly<CustomerEvents['CustomerCreated']> {
  readonly createdAt: string
}

export type Customer =
  | { readonly status: 'none' }
  | { readonly status: 'linked'; readonly customer: string }
  | (Details & { readonly status: 'active' })

// Decisions. The first to reach a contact's stream decides whose contact it is.

export type CustomerCommands = {
  /** The contact leads to this stream. `inCircle`: such contacts only lead to each other. */
  CreateCustomer: { email: string | null; phone: string | null; currency: string; inCircle?: true }
  LinkContact: { customer: string }
}

export const customer: Decider<Customer, CustomerCommands, CustomerEvents> = {
  category: 'customer',
  events: customerEvents,
  initial: () => ({ status: 'none' }),

  decide: {
    CreateCustomer({ email, phone, currency, inCircle }, state) {
      if (state.status === 'active') {
        const added = {
          email: isKnown(state.email) ? null : email,
          phone: isKnown(state.phone) ? null : phone,
        }
        if (added.email === null && added.phone === null) return []
        return [{ type: 'CustomerContactAdded', data: added }]
      }
      if (state.status === 'linked' && !inCircle) return []
      return [{ type: 'CustomerCreated', data: { email, phone, currency } }]
    },

    LinkContact(link, { status }) {
      if (status !== 'none') return []
      return [{ type: 'CustomerContactLinked', data: { customer: link.customer } }]
    },
  },

  evolve: {
    CustomerCreated: (_, details, { merchant, livemode, at }) => {
      return { ...details, merchant, livemode, status: 'active', createdAt: at }
    },
    CustomerContactAdded: (state, { email, phone }) => {
      const known = existing(state)
      const { email: oldEmail, phone: oldPhone } = known
      return { ...known, email: together(oldEmail, email), phone: together(oldPhone, phone) }
    },
    CustomerContactLinked: (_, link) => ({ status: 'linked', customer: link.customer }),
  },
}

type Contacts = Pick<Details, 'email' | 'phone'>

/** No contact is left, and none was given again. */
export function wasErased(contacts: Contacts): boolean {
  return hasErasedContact(contacts) && !isKnown(contacts.email) && !isKnown(contacts.phone)
}

/** Whoever was erased and comes back may not have given both contacts anew. */
export function hasErasedContact({ email, phone }: Contacts): boolean {
  return email === erasedText || phone === erasedText
}

/** Somebody who was erased and comes back leaves a contact anew. */
function isKnown(contact: string | null): boolean {
  return contact !== null && contact !== '' && contact !== erasedText
}

function together(known: string | null, added: string | null): string | null {
  return isKnown(known) ? known : (added ?? known)
}

function existing(state: Customer): Extract<Customer, { status: 'active' }> {
  if (state.status !== 'active') throw new Error('a contact was added to nobody')
  return state
}

/**
 * What the id of a contact's stream is derived from, in a form that does not reveal it. A customer's id
 * follows from the contact by which the customer was first met, so that two concurrent requests create one.
 * E-mail addresses are compared case-insensitively.
 */
export function contactName({ merchant, livemode }: MerchantOwner, contact: string): string {
  return JSON.stringify(['customer', merchant, livemode, contact.toLowerCase()])
}

const contacts = 'd0a7a5a3-54f0-5c1e-8f4e-0b8b0f6d2c11'

/** The id that an earlier version derived from a contact: anyone who guesses the contact can compute it. */
export function guessableContactId({ merchant, livemode }: MerchantOwner, contact: string): string {
  return derivedId(contacts, `${merchant} ${livemode} ${contact.toLowerCase()}`)
}
