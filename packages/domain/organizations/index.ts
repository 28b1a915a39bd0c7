import type { Family } from '../../contract/family.ts'
import { organization } from './organization.ts'

export const organizations: Family = {
  name: 'organizations',
  streams: [organization],
}
