import type { Family } from '../../contract/family.ts'
import { transferPolicies } from './policies.ts'
import { transfer } from './transfer.ts'

/** Money that goes from one merchant's book into another's. */
export const transfers: Family = { name: 'transfers', streams: [transfer], policies: transferPolicies }
