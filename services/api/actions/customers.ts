import type { Request } from '../../../packages/contract/routes.ts'
import { customer, customerIdOf } from '../../../packages/domain/customers/customer.ts'
import { readState } from '../../../packages/kernel/history.ts'

type Sender = Pick<Request, 'caller' | 'dependencies' | 'send'>

export interface Contact {
  readonly email: string | null
  readonly phone: string | null
  /** Of the payment by which the customer is met. */
  readonly currency: string
}

/**
 * The customer with this e-mail address, else the one with this number, else a new one; `null` without any
 * contact.
 */
export async function findOrCreateCustomer(request: Sender, contact: Contact): Promise<string | null> {
  const contacts = [contact.email, contact.phone].filter((each) => each !== null)
  const [first, second] = contacts.map((each) => customerIdOf(request.caller, each))
  if (!first) return null
  const id = await ownerOf(request, first, second)
  await request.send(customer, id, { type: 'CreateCustomer', data: contact })
  return id
}

/**
 * Whose contacts these are. The contact that is not the owner's own is linked to it before the customer is
 * created, so that a request which dies in between leaves nothing that a later one does not finish.
 */
async function ownerOf(request: Sender, first: string, second: string | undefined): Promise<string> {
  const known = await knownBy(request, first)
  if (known || !second) return known ?? first
  const other = await knownBy(request, second)
  const [contact, owner] = other ? [first, other] : [second, first]
  const { state } = await request.send(customer, contact, { type: 'LinkContact', data: { customer: owner } })
  // Another request may have met the customer by this contact at the same moment; then it is known by now.
  return state.status === 'linked' && state.customer === owner ? owner : ownerOf(request, first, second)
}

async function knownBy({ dependencies }: Sender, contact: string): Promise<string | undefined> {
  const state = await readState(dependencies.store, customer, contact)
  if (state.status === 'none') return undefined
  return state.status === 'linked' ? state.customer : contact
}
