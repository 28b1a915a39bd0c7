import type { Family } from '../../contract/family.ts'
import { supportCase } from './case.ts'
import { casePolicies } from './policies.ts'

/** What people must decide, because no rule does: `ikw cases` shows and closes them. */
export const cases: Family = { name: 'cases', streams: [supportCase], policies: casePolicies }
