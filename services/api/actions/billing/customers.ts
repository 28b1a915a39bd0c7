import { identity } from '../../../../packages/contract/identity.ts'
import type { Request } from '../../../../packages/contract/routes.ts'
import {
  contactName,
  customer,
  guessableContactId,
  hasErasedContact,
  wasErased,
  type Customer,
} from '../../../../packages/domain/customers/customer.ts'
import { readState } from '../../../../packages/kernel/history.ts'
import { customers } from '../../../../projections/customers.ts'
import { currentState } from '../../kinds/current-state.ts'

type Asking = Pick<Request, 'owner' | 'dependencies'>

/** Always current, also who was erased; of another merchant's, there is none. */
export async function customerNow(request: Asking, id: string) {
  const state = (await currentState(request, customers, id)) as Customer | undefined
  return state?.status === 'active' ? state : undefined
}

/** Whom a request names by a public id, unless nobody is known by it any more. */
export async function namedCustomer(request: Asking, text: string) {
  const id = identity(text, 'cus')
  const state = id && (await customerNow(request, id))
  return id && state && !wasErased(state) ? { id, ...state } : undefined
}

type Sender = Pick<Request, 'caller' | 'dependencies' | 'send'>

export interface Contact {
  readonly email: string | null
  readonly phone: string | null
  /** The payment by which the customer is met. */
  readonly currency: string
}

/** Where a contact leads: to a customer, or to a stream that is about to become one. */
interface Lead {
  readonly id: string
  readonly isCustomer: boolean
  /** Whoever was erased and comes back is known by what is given now. */
  readonly hasErasedContact?: boolean
  /** Contacts that only lead to each other, as an earlier version could leave them. */
  readonly inCircle?: true
}

/**
 * The customer with this e-mail address, else with this number, else a new one; `null` without a contact. A
 * stream decides once whether it is a customer or leads to one, so each attempt finds more decided, and the
 * next request about the customer finishes what a crash left half done.
 */
export async function findOrCreateCustomer(request: Sender, contact: Contact): Promise<string | null> {
  const { email, phone } = contact
  if (email === null && phone === null) return null
  for (;;) {
    const found =
      email !== null && phone !== null
        ? await byBoth(request, { ...contact, email, phone })
        : await byOne(request, contact)
    if (found !== undefined) return found
  }
}

async function byOne(request: Sender, contact: Contact): Promise<string | undefined> {
  const lead = await leadOf(request, contact.email ?? contact.phone!)
  return lead.isCustomer && !lead.hasErasedContact ? lead.id : create(request, lead, contact)
}

/** Usually the address is known, and nothing else needs to be looked up. */
async function byBoth(
  request: Sender,
  contact: Contact & { readonly email: string; readonly phone: string },
): Promise<string | undefined> {
  const address = await contactId(request, contact.email)
  const byAddress = await leadOf(request, contact.email)
  if (byAddress.isCustomer)
    return byAddress.hasErasedContact ? comesBack(request, byAddress, contact) : byAddress.id
  if (byAddress.id !== address || byAddress.inCircle)
    return create(request, byAddress, { ...contact, phone: null })
  const number = await contactId(request, contact.phone)
  const byNumber = await leadOf(request, contact.phone)
  if (byNumber.id === address) return create(request, byAddress, contact)
  if (byNumber.id === number && !byNumber.isCustomer && !byNumber.inCircle)
    return (await link(request, number, address)) ? create(request, byAddress, contact) : undefined
  const { id } = byNumber
  const exists = byNumber.isCustomer || (await create(request, byNumber, { ...contact, email: null }))
  return exists && (await link(request, address, id))
    ? create(request, { id, isCustomer: true }, contact)
    : undefined
}

/** With the number as well, unless it is another customer's. */
async function comesBack(
  request: Sender,
  back: Lead,
  contact: Contact & { readonly phone: string },
): Promise<string | undefined> {
  const number = await contactId(request, contact.phone)
  const byNumber = await leadOf(request, contact.phone)
  const isFree = byNumber.id === number && !byNumber.isCustomer && !byNumber.inCircle
  if (isFree && !(await link(request, number, back.id))) return undefined
  const isTheirs = isFree || byNumber.id === back.id
  return create(request, back, isTheirs ? contact : { ...contact, phone: null })
}

async function leadOf(request: Sender, contact: string): Promise<Lead> {
  const passed: string[] = []
  for (let { id, state } = await startOf(request, contact); ; state = await stateOf(request, id)) {
    if (state.status === 'active') return { id, isCustomer: true, hasErasedContact: hasErasedContact(state) }
    if (state.status === 'none') return { id, isCustomer: false }
    const circle = passed.includes(id) ? passed.slice(passed.indexOf(id)) : undefined
    if (circle) return { id: circle.sort()[0]!, isCustomer: false, inCircle: true }
    passed.push(id)
    id = state.customer
  }
}

/** The contact's own stream, or the one that an earlier version began for it. */
async function startOf(request: Sender, contact: string): Promise<{ id: string; state: Customer }> {
  const id = await contactId(request, contact)
  const state = await stateOf(request, id)
  if (state.status !== 'none') return { id, state }
  const earlier = guessableContactId(request.caller, contact)
  const known = await stateOf(request, earlier)
  return known.status === 'none' ? { id, state } : { id: earlier, state: known }
}

function contactId({ dependencies, caller }: Sender, contact: string): Promise<string> {
  return dependencies.blindIndex(contactName(caller, contact))
}

function stateOf({ dependencies }: Sender, id: string): Promise<Customer> {
  return readState(dependencies.store, customer, id)
}

/** Adds what is missing to a customer who was created meanwhile. `undefined`: the stream leads elsewhere. */
async function create(request: Sender, lead: Lead, contact: Contact): Promise<string | undefined> {
  const { id, isCustomer, inCircle } = lead
  const data = { ...contact, ...(inCircle && { inCircle }) }
  const isNew = !isCustomer && !inCircle
  const { state } = await request.send(customer, id, { type: 'CreateCustomer', data }, { isNew })
  return state.status === 'active' ? id : undefined
}

/** Whether the contact leads there. */
async function link(request: Sender, contact: string, owner: string): Promise<boolean> {
  const { state } = await request.send(customer, contact, { type: 'LinkContact', data: { customer: owner } })
  return state.status === 'linked' && state.customer === owner
}
