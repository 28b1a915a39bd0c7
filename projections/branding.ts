import { branding } from '../packages/domain/branding/branding.ts'
import { documents } from '../packages/kernel/projection.ts'

export const brandings = documents(branding, {
  name: 'brandings',
  version: 1,
  columns: {},
  row: () => ({}),
  indexes: [],
})
