import type { Family } from '../../contract/family.ts'
import { statement } from './statement.ts'

/** What operators say of our accounts at them. */
export const statements: Family = { name: 'statements', streams: [statement] }
