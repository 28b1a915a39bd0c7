import type { Family } from '../../contract/family.ts'
import { period } from './period.ts'

/** Months that are closed. */
export const periods: Family = { name: 'periods', scopes: ['months.write'], streams: [period] }
