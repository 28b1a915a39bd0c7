import type { EventTypes } from './event-types.ts'
import type { MerchantOwner, Owner, OwnerKind } from './owner.ts'

/** Payload by message type: `{ PayoutSent: { at: string } }`. */
export type Payloads = Record<string, object>

/** One entry of a payload map as a tagged message. */
export type Message<M extends Payloads> = {
  [Type in keyof M & string]: { readonly type: Type; readonly data: M[Type] }
}[keyof M & string]

/** Why a policy sends a command: the event it follows from, by log position. */
export interface Cause {
  readonly policy: string
  readonly position: number
}

/** A session in which a user sends a command, which may be over by now. */
export interface SenderSession {
  readonly user: string
  readonly id: string
  /** How often all sessions of the user had been ended when it began. */
  readonly endings: number
}

/** What a decision may know besides its own history: the owner and the time. The clock is read outside. */
export type Context<O extends Owner = MerchantOwner> = O & {
  /** The aggregate's id: the stream's name without its category. */
  readonly id: string
  readonly now: Date
  /** Present when a policy sends the command, absent for requests and people. */
  readonly cause?: Cause
  /**
   * The log had reached at least this position when the sender looked at other streams; left out: unknown.
   */
  readonly asOf?: number
  /** Of the user who sends the command; absent for keys, policies and people without one. */
  readonly inSession?: SenderSession
}

/** An event's owner and time: stored once, in the metadata, never in the payload. */
export type Stamp<O extends Owner = MerchantOwner> = O & {
  /** RFC 3339 with milliseconds. */
  readonly at: string
}

/** How states of one kind are stored as JSON. */
export interface Snapshotting<State> {
  /** Snapshots of another version are not read. */
  readonly version: number
  /** A snapshot is taken after this many events. */
  readonly every: (state: State) => number
  /** It holds secrets or what is personal, which the database keeps sealed. */
  readonly isSealed?: true
  /** Restores a state from its JSON; left out where the JSON is the state. */
  readonly restored?: (kept: unknown) => State
}

/** The whole behaviour of one kind of stream, without any I/O. `O` is whose it is. */
export interface Decider<
  State,
  Commands extends Payloads,
  Events extends Payloads,
  O extends Owner = MerchantOwner,
> {
  /** Streams are named `<category>-<id>`. */
  readonly category: string
  /** Whose its streams are. Left out: merchants'. */
  readonly owners?: readonly OwnerKind[]
  /** One short stream per operation: so many that extra look-ups per stream would cost too much. */
  readonly perOperation?: true
  /** Uses real time even where the merchant has moved the sandbox clock: it deals with the outside world. */
  readonly time?: 'real'
  /** How events are stored: version, schema and upcasts of each type. */
  readonly events: EventTypes
  readonly initial: () => State
  readonly decide: {
    readonly [Type in keyof Commands & string]: (
      command: Commands[Type],
      state: State,
      context: Context<O>,
    ) => readonly Message<Events>[]
  }
  /**
   * May modify the state it is given: nobody else holds it, and a failed append discards it. New fields come
   * before what is spread (docs/decisions/0038).
   */
  readonly evolve: {
    readonly [Type in keyof Events & string]: (state: State, event: Events[Type], stamp: Stamp<O>) => State
  }
  /** For streams of unbounded length. */
  readonly snapshot?: Snapshotting<State>
}

/**
 * A decider whose types were checked where it was declared. Tables of deciders, the executor and the
 * projector hold many kinds at once, and TypeScript has no existential types, so generics are erased here and
 * only here.
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

/** The category and the id of a stream's name. Categories contain no hyphen, ids may. */
export function parseStreamName(stream: string): { readonly category: string; readonly id: string } {
  const hyphen = stream.indexOf('-')
  if (hyphen < 1) throw new Error(`${stream} is not named <category>-<id>`)
  return { category: stream.slice(0, hyphen), id: stream.slice(hyphen + 1) }
}
