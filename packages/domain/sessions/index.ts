import type { Family } from '../../contract/family.ts'
import { sessionTimers } from './timers.ts'
import { userSessions } from './user-sessions.ts'

export const sessions: Family = { name: 'sessions', streams: [userSessions], timers: sessionTimers }
