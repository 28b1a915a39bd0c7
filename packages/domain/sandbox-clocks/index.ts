import type { Family } from '../../contract/family.ts'
import { sandboxClock } from './sandbox-clock.ts'

/** Time that merchants can move forward in the sandbox. */
export const sandboxClocks: Family = { name: 'sandbox-clocks', streams: [sandboxClock] }
