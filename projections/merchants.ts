import { merchant } from '../packages/domain/merchants/merchant.ts'
import { documents } from '../packages/kernel/projection.ts'

export const merchants = documents(merchant, {
  name: 'merchants',
  version: 1,
  columns: { name: 'text', country: 'text', email: 'text', status: 'text' },
  row: (state) => {
    if (state.status === 'none') return undefined
    const { name, country, email, status } = state
    return { name, country, email, status }
  },
  indexes: [],
})
