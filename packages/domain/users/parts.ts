import type { Decider, Payloads, Stamp } from '../../kernel/decider.ts'
import type { UserOwner } from '../../kernel/owner.ts'

/** A user has many parts, such as passkeys, each with a state, commands and events of its own. */

/** Whose personal fields a user's events hold. */
export const aboutUser = (_: object, id: string) => `user/${id}`

export type Decisions<State, Commands extends Payloads, Events extends Payloads> = Decider<
  State,
  Commands,
  Events,
  UserOwner
>['decide']

/** The last requests of which a newer one takes the place: a repeat makes none good again. */
export interface Requests {
  readonly requested: readonly string[]
}

export const noRequests: Requests = { requested: [] }

const requestsKnown = 50

export function withRequest({ requested }: Requests, id: string): Requests {
  return { requested: [...requested, id].slice(-requestsKnown) }
}

export type Evolutions<State, Events extends Payloads> = Decider<State, Payloads, Events, UserOwner>['evolve']

/** What each event of a part changes; all else stays. */
export type Changes<State, Events extends Payloads> = {
  readonly [Type in keyof Events & string]: (
    state: State,
    event: Events[Type],
    stamp: Stamp<UserOwner>,
  ) => Partial<State>
}

/** Its types are those of its callers: TypeScript knows none for all steps of any table. */
export function eachStep<Step, Lifted>(steps: object, lift: (step: Step) => unknown): Lifted {
  return Object.fromEntries(Object.entries(steps).map(([type, step]) => [type, lift(step as Step)])) as Lifted
}
