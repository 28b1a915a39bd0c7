import { userSessions } from '../../packages/domain/sessions/user-sessions.ts'
import { endOfSessions } from '../../packages/domain/users/ended-sessions.ts'
import { user } from '../../packages/domain/users/user.ts'
import type { Process, Reaction } from './runner/process.ts'

/** Whoever ends a user's sessions may be killed first. Which began before, their user knows, and no clock. */
export const endedSessionsProcess: Process = {
  reactions: {
    UserPasswordChanged: endSessions,
    UserPasswordRemoved: endSessions,
    // Who had no password when the account was taken over has no UserPasswordRemoved.
    UserTakenOver: endSessions,
    UserFactorsUndone: endSessions,
    UserLeft: endSessions,
  },
}

async function endSessions({ event, tools }: Reaction): Promise<void> {
  const { executor } = tools.dependencies
  const { id, metadata } = event
  const { state } = await executor.current(user, id)
  const own = { user: id, actor: `user:${id}`, correlation: metadata.correlation }
  await executor.send(userSessions, id, endOfSessions(state), own)
}
