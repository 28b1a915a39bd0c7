import type { Family } from '../../contract/family.ts'
import { publicEvents } from '../../contract/webhooks/public-events.ts'
import { customer } from './customer.ts'
import { CustomerResource, viewCustomer } from './resource.ts'

const told = publicEvents(customer, {
  scope: 'customers.read',
  types: { 'customer.created': 'A customer was created.' },
  events: { CustomerCreated: 'customer.created' },
  returns: CustomerResource,
  view: (id, state) => viewCustomer(id, state),
})

export const customers: Family = {
  name: 'customers',
  ids: { customer: 'cus' },
  scopes: ['customers.read', 'customers.write'],
  streams: [customer],
  publicEvents: [told],
}
