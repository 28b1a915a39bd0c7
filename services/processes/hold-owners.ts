import { payout } from '../../packages/domain/payouts/payout.ts'
import { refund } from '../../packages/domain/refunds/refund.ts'
import type { AnyDecider, Decider, Message, Payloads } from '../../packages/kernel/decider.ts'

/** How the sweeper finds out whether a stream claims a hold that was placed for it. */
export interface HoldOwner {
  readonly decider: AnyDecider
  /** Decides, where nothing was requested yet, that nothing will be: then no claim can come any more. */
  readonly abandon: (currency: string) => { readonly type: string; readonly data: object }
  /** Whether the hold in the book of this currency is its own. */
  readonly claims: (state: unknown, currency: string) => boolean
}

/** Every kind of stream that money is held for, by its category. */
export const holdOwners: Readonly<Record<string, HoldOwner>> = {
  payout: holdOwner(payout, {
    abandon: (currency) => ({ type: 'AbandonPayout', data: { currency } }),
    claims: (state, currency) => 'money' in state && state.money.currency === currency,
  }),
  refund: holdOwner(refund, {
    abandon: () => ({ type: 'AbandonRefund', data: { paymentIntent: null } }),
    claims: (state, currency) => 'currency' in state && state.currency === currency,
  }),
}

function holdOwner<S, C extends Payloads, E extends Payloads>(
  decider: Decider<S, C, E>,
  {
    abandon,
    claims,
  }: { abandon: (currency: string) => Message<C>; claims: (state: S, currency: string) => boolean },
): HoldOwner {
  // The executor answers the state of this very decider; only the erasure in its table hides that.
  return { decider, abandon, claims: (state, currency) => claims(state as S, currency) }
}
