import type { PlatformOwner, UserOwner } from '../../kernel/owner.ts'
import { start, stop, timerHandlers } from '../../kernel/timer.ts'
import type { ChallengeEvents } from './challenge.ts'

/** A code is sent like a mailed link: a timer that is due at once. */
export const challengeTimers = timerHandlers<ChallengeEvents, UserOwner | PlatformOwner>({
  ChallengeIssued: (event) =>
    event.data.destination === null ? [] : [start('challenge_code', event.id, event, event.metadata.at)],
  ChallengeCodeSent: ({ id }) => [stop('challenge_code', id)],
  ChallengeVerified: ({ id }) => [stop('challenge_code', id)],
})
