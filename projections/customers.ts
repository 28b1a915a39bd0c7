import { customer } from '../packages/domain/customers/customer.ts'
import { documents } from '../packages/kernel/projection.ts'

export const customers = documents(customer, {
  name: 'customers',
  version: 2,
  columns: { searchable: 'text' },
  row: (state) => {
    if (state.status !== 'active') return undefined
    return { searchable: [state.email, state.phone].filter((contact) => contact !== null).join('\n') }
  },
  indexes: [],
  searched: ['searchable'],
  countedBy: [],
})
