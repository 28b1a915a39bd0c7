import type { AnyDecider, Decider, Message, Payloads } from '../kernel/decider.ts'

/** How to find out whether a stream claims the money that was held for it. */
export interface HoldOwner {
  readonly decider: AnyDecider
  /** The command that makes a stream without a request rule one out for good: after it no claim can come. */
  readonly abandon: (currency: string) => { readonly type: string; readonly data: object }
  /** Whether the hold in the book of this currency is the stream's own. */
  readonly claims: (state: unknown, currency: string) => boolean
}

interface Claiming<State, Commands extends Payloads> {
  readonly abandon: (currency: string) => Message<Commands>
  readonly claims: (state: State, currency: string) => boolean
}

/** Declares a kind of stream that money is held for. */
export function holdOwner<S, C extends Payloads, E extends Payloads>(
  decider: Decider<S, C, E>,
  { abandon, claims }: Claiming<S, C>,
): HoldOwner {
  // The executor returns the state of this very decider; only the erasure in its table hides that.
  return { decider, abandon, claims: (state, currency) => claims(state as S, currency) }
}
