import type { Family } from '../../contract/family.ts'
import { intervention } from './intervention.ts'

/** What support does by command line: with a name and a reason, and with two names for large amounts. */
export const interventions: Family = { name: 'interventions', streams: [intervention] }
