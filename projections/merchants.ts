import { merchant } from '../packages/domain/merchants/merchant.ts'
import { documents } from '../packages/kernel/projection.ts'

export const merchants = documents(merchant, {
  name: 'merchants',
  version: 4,
  columns: { name: 'text', country: 'text', email: 'text', status: 'text' },
})
