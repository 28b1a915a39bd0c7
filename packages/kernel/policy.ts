import type { AnyDecider, Decider, Message, Payloads } from './decider.ts'
import type { MerchantOwner, Owner } from './owner.ts'
import type { RecordedEvent } from './projection.ts'

/** A command for a stream. */
export interface PolicyCommand {
  readonly decider: AnyDecider
  readonly id: string
  readonly command: { readonly type: string; readonly data: object }
  /** See `Envelope`: of a stream that most likely begins with it. */
  readonly isNew?: true
}

/** "Whenever this event, then that command." Families only meet here. */
export interface Policy<Events extends Payloads, O extends Owner = MerchantOwner> {
  /** Stored with everything it caused: a renamed policy forgets what it has done. */
  readonly name: string
  readonly on: {
    readonly [Type in keyof Events & string]?: (
      event: RecordedEvent<Events[Type], O>,
    ) => readonly PolicyCommand[]
  }
  /**
   * Whose streams its commands are for, where that is not the owner of the event. Only policies reach another
   * owner's streams; a policy for several owners is several policies.
   */
  readonly owner?: (event: RecordedEvent<Events[keyof Events & string], O>) => Owner
}

export type AnyPolicy = Policy<Payloads>

export function policy<Events extends Payloads, O extends Owner = MerchantOwner>(
  name: string,
  on: Policy<Events, O>['on'],
  owner?: Policy<Events, O>['owner'],
): AnyPolicy {
  return { name, on: on as AnyPolicy['on'], ...(owner && { owner: owner as AnyPolicy['owner'] & object }) }
}

/** Addresses a command; the compiler checks that the decider knows it. */
export function to<S, C extends Payloads, E extends Payloads, O extends Owner>(
  decider: Decider<S, C, E, O>,
  id: string,
  command: Message<C>,
): PolicyCommand {
  return { decider, id, command }
}

/** The same for a stream that most likely begins with it, which is not read first. */
export function toNew<S, C extends Payloads, E extends Payloads, O extends Owner>(
  decider: Decider<S, C, E, O>,
  id: string,
  command: Message<C>,
): PolicyCommand {
  return { decider, id, command, isNew: true }
}
