import type { UserOwner } from '../../kernel/owner.ts'
import { start, stop, timerHandlers } from '../../kernel/timer.ts'
import type { UserSessionEvents } from './user-sessions.ts'

/** A user is told by mail that somebody has a copy of a token. */
export const sessionTimers = timerHandlers<UserSessionEvents, UserOwner>({
  SessionEnded: (event) =>
    event.data.reason === 'token_reused'
      ? [start('session_reuse', `${event.id}.${event.data.session}`, event, event.metadata.at)]
      : [],
  SessionReuseTold: ({ id, data: { session } }) => [stop('session_reuse', `${id}.${session}`)],
})
