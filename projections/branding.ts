import { branding } from '../packages/domain/branding/branding.ts'
import { documents } from '../packages/kernel/projection.ts'

export const brandings = documents(branding, {
  name: 'brandings',
  version: 2,
  columns: {},
  row: () => ({}),
  indexes: [],
})
