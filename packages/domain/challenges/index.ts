import type { Family } from '../../contract/family.ts'
import { challenge } from './challenge.ts'
import { challengeTimers } from './timers.ts'

/** Second proofs of who somebody is. */
export const challenges: Family = { name: 'challenges', streams: [challenge], timers: challengeTimers }
