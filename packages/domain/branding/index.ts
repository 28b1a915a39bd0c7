import type { Family } from '../../contract/family.ts'
import { branding } from './branding.ts'

/** How pages for payers look like their merchant. */
export const brandings: Family = { name: 'branding', streams: [branding] }
