import type { AnyDecider, Decider, Message, Payloads } from './decider.ts'
import type { RecordedEvent } from './projection.ts'

/** A command for a stream. */
export interface PolicyCommand {
  readonly decider: AnyDecider
  readonly id: string
  readonly command: { readonly type: string; readonly data: object }
}

/** "Whenever this event, then that command." Families only meet here. */
export interface Policy<Events extends Payloads> {
  /** Stored with everything it caused: a renamed policy forgets what it has done. */
  readonly name: string
  readonly on: {
    readonly [Type in keyof Events & string]?: (
      event: RecordedEvent<Events[Type]>,
    ) => readonly PolicyCommand[]
  }
}

export type AnyPolicy = Policy<Payloads>

export function policy<Events extends Payloads>(name: string, on: Policy<Events>['on']): AnyPolicy {
  return { name, on: on as AnyPolicy['on'] }
}

/** Addresses a command; the compiler checks that the decider knows it. */
export function to<S, C extends Payloads, E extends Payloads>(
  decider: Decider<S, C, E>,
  id: string,
  command: Message<C>,
): PolicyCommand {
  return { decider, id, command }
}
