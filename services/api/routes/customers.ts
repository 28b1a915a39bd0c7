import { history, list, show } from '../../../packages/contract/routes.ts'
import { section } from '../../../packages/contract/section.ts'
import { CustomerResource, viewCustomer } from '../../../packages/domain/customers/resource.ts'
import { customers } from '../../../projections/customers.ts'
import { listedBalance, walletBalance } from '../actions/billing/wallets.ts'

const params = { id: 'customer' }

const one = {
  scope: 'customers.read',
  from: customers,
  returns: CustomerResource,
} as const

const rows = [
  list('GET /api/v1/merchant/customers', {
    ...one,
    view: viewCustomer,
    beside: listedBalance,
    summary: 'Customers, newest first; the search looks into e-mail addresses and numbers',
    paging: 'page',
    search: 'searchable',
  }),

  show('GET /api/v1/merchant/customers/{id}', {
    ...one,
    params,
    view: viewCustomer,
    beside: walletBalance,
    summary: 'One customer',
  }),

  history('GET /api/v1/merchant/customers/{id}/history', {
    ...one,
    params,
    view: (id, state) => viewCustomer(id, state),
  }),
]

export const customerRoutes = section(
  'Customers',
  'Customers are made from the e-mail address or the phone number of a payment intent.',
  rows,
)
