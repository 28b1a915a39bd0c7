import type { Family } from '../../contract/family.ts'
import { claim } from './claim.ts'
import { indexKey } from './index-key.ts'
import { claimTimers } from './timers.ts'

/** What must be unique, for all families: docs/claims.md. */
export const claims: Family = { name: 'claims', streams: [claim, indexKey], timers: claimTimers }
