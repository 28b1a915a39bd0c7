import type { EventTypes } from './event-types.ts'
import type { MerchantOwner, Owner } from './owner.ts'

/** The payload of each message, by message type: `{ PayoutSent: { at: string } }`. */
export type Payloads = Record<string, object>

/** One entry of a payload map as a tagged message. */
export type Message<M extends Payloads> = {
  [Type in keyof M & string]: { readonly type: Type; readonly data: M[Type] }
}[keyof M & string]

/** Why a policy sends a command: the event it follows from, by its position in the log. */
export interface Cause {
  readonly policy: string
  readonly position: number
}

/** All that a decision may know besides its own history: whose it is, and when. The clock is read outside. */
export type Context<O extends Owner = MerchantOwner> = O & {
  /** The aggregate's own id: the part of the stream's name behind the category. */
  readonly id: string
  readonly now: Date
  /** Present when a policy sends the command, absent when a person or a merchant's server does. */
  readonly cause?: Cause
  /** The log stood at least here before its sender looked at other streams; left out: it did not say. */
  readonly asOf?: number
}

/** Whose an event is and when it happened: it stands once, in the metadata, and never in the payload. */
export type Stamp<O extends Owner = MerchantOwner> = O & {
  /** RFC 3339 with milliseconds. */
  readonly at: string
}

/** How states of one kind are kept as JSON. */
export interface Snapshotting<State> {
  /** Snapshots of another version are not read. */
  readonly version: number
  /** After so many events the next one is kept. */
  readonly every: (state: State) => number
  /** The state that became this JSON; left out where that is plain data. */
  readonly restored?: (kept: unknown) => State
}

/** The whole behaviour of one kind of stream, without any I/O. `O` is the kind of owner that it has. */
export interface Decider<
  State,
  Commands extends Payloads,
  Events extends Payloads,
  O extends Owner = MerchantOwner,
> {
  /** Streams are named `<category>-<id>`. */
  readonly category: string
  /** One stream for each operation: short, and so many that nothing is looked up for each of them. */
  readonly perOperation?: true
  /** Everybody's time, also where the merchant has moved the clock: it meets the world outside. */
  readonly time?: 'real'
  /** How the events are stored: version, schema and upcasts of each type. */
  readonly events: EventTypes
  readonly initial: () => State
  readonly decide: {
    readonly [Type in keyof Commands & string]: (
      command: Commands[Type],
      state: State,
      context: Context<O>,
    ) => readonly Message<Events>[]
  }
  /** May change the state that it is given: nobody else holds it. A failed append throws it away. */
  readonly evolve: {
    readonly [Type in keyof Events & string]: (state: State, event: Events[Type], stamp: Stamp<O>) => State
  }
  /** For streams without a bound on their length. */
  readonly snapshot?: Snapshotting<State>
}

/**
 * A decider whose types have done their work when it was declared. Tables of deciders, the executor and the
 * projector hold many kinds at once, and TypeScript has no existential types, so this is the one place where
 * generics are erased.
 */
// eslint-disable-next-line @typescript-eslint/no-explicit-any
export type AnyDecider = Decider<any, any, any, any>

export function decide<S, C extends Payloads, E extends Payloads, O extends Owner>(
  decider: Decider<S, C, E, O>,
  command: Message<C>,
  state: S,
  context: Context<O>,
): readonly Message<E>[] {
  const decision = decider.decide[command.type]
  if (!decision) throw new Error(`${decider.category} knows no command ${command.type}`)
  return decision(command.data as C[typeof command.type], state, context)
}

export function evolve<S, C extends Payloads, E extends Payloads, O extends Owner>(
  decider: Decider<S, C, E, O>,
  state: S,
  event: Message<E>,
  stamp: Stamp<O>,
): S {
  const step = decider.evolve[event.type]
  if (!step) throw new Error(`${decider.category} knows no event ${event.type}`)
  return step(state, event.data as E[typeof event.type], stamp)
}

/** `payout` and `0190…` make `payout-0190…`. */
export function streamName(category: string, id: string): string {
  return `${category}-${id}`
}

/** The category of a stream's name, by which events are filtered; empty for a name without one. */
export function categoryOf(stream: string): string {
  return stream.slice(0, Math.max(0, stream.indexOf('-')))
}

/** The category and the id of a stream's name. Categories have no hyphen, ids may have many. */
export function parseStreamName(stream: string): { readonly category: string; readonly id: string } {
  const hyphen = stream.indexOf('-')
  if (hyphen < 1) throw new Error(`${stream} is not named <category>-<id>`)
  return { category: stream.slice(0, hyphen), id: stream.slice(hyphen + 1) }
}
