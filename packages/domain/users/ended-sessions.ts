import { refuse } from '../../contract/refusals.ts'
import type { Context, Payloads } from '../../kernel/decider.ts'
import type { UserOwner } from '../../kernel/owner.ts'
import { eachStep, type Decisions } from './parts.ts'

/**
 * What a reaction does to the sessions a moment later the user knows at once: in between, whoever is thrown
 * out must not begin and finish what the user would have to undo again.
 */
export interface EndedSessions {
  /**
   * All that had begun by then, but for one; how often that has happened. An earlier exception is over with
   * the rest.
   */
  readonly sessionsEnded: { readonly times: number; readonly except: string | null }
}

export const noEndedSessions: EndedSessions = { sessionsEnded: { times: 0, except: null } }

export function endingSessions({ sessionsEnded: { times } }: EndedSessions, except: string | null) {
  return { sessionsEnded: { times: times + 1, except } }
}

interface WithSessions extends Partial<EndedSessions> {
  readonly status: string
}

/** Ends the sessions of a user that are over by now; of who has left, all. */
export function endOfSessions({ status, sessionsEnded }: WithSessions) {
  const hasLeft = status !== 'active' || sessionsEnded === undefined
  const { times, except } = hasLeft ? { times: null, except: null } : sessionsEnded
  const reason = hasLeft ? ('ended_by_user' as const) : ('password_changed' as const)
  return { type: 'EndSessions' as const, data: { endings: times, except, reason } }
}

/** Nobody decides from a session that is over. */
export function fromOngoing<State extends object, Commands extends Payloads, Events extends Payloads>(
  decisions: Decisions<State, Commands, Events>,
): Decisions<State, Commands, Events> {
  return eachStep(decisions, (decide: Decisions<State, Payloads, Events>[string]) => {
    return (command: object, state: State, context: Context<UserOwner>) => {
      if ('sessionsEnded' in state) requireOngoing(state as EndedSessions, context)
      return decide(command, state, context)
    }
  })
}

/** Refuses what comes from a session of this user that is over. */
function requireOngoing(
  { sessionsEnded: ended }: EndedSessions,
  { id: user, inSession: session }: Pick<Context<UserOwner>, 'id' | 'inSession'>,
): void {
  const isOver = session?.user === user && session.id !== ended.except && session.endings < ended.times
  if (isOver) refuse('credential_must_not_be_expired')
}
