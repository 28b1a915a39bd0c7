import type { Family } from '../../contract/family.ts'
import { book } from './book.ts'
import { holdTimers } from './timers.ts'

/** The books in which all families' money moves. */
export const ledger: Family = { name: 'ledger', streams: [book], timers: holdTimers }
