import { record } from '../../contract/vocabulary.ts'
import { stored, type EventsOf } from '../../kernel/event-types.ts'
import type { Holding } from './held.ts'

export const leavingEvents = {
  /** The account is over: nobody signs in to it any more. Whoever is to be forgotten leaves first. */
  UserLeft: stored(1, record({})),
}

export type LeavingEvents = EventsOf<typeof leavingEvents>

export interface LeftUser extends Holding {
  readonly status: 'left'
}

/** `held` is kept, so that whoever was interrupted can still free it. */
export function afterLeaving({ abandoned, held }: Holding): LeftUser {
  return { status: 'left', abandoned, held }
}
