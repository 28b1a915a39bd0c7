import { list, show } from '../../../packages/contract/routes.ts'
import { CustomerResource, viewCustomer } from '../../../packages/domain/customers/resource.ts'
import { customers } from '../../../projections/customers.ts'

const one = {
  scope: 'customers.read',
  kinds: ['customer'],
  from: customers,
  view: viewCustomer,
  returns: CustomerResource,
} as const

export const customerRoutes = [
  list('GET /api/v1/merchant/customers', {
    ...one,
    summary: 'Customers, newest first; the search looks into e-mail addresses and numbers',
    paging: 'page',
    search: 'searchable',
  }),

  show('GET /api/v1/merchant/customers/{id}', { ...one, summary: 'One customer' }),
]
