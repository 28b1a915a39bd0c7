import { begun } from '../../contract/existing.ts'
import { AmountMinor, Currency, record, Uuid } from '../../contract/vocabulary.ts'
import type { Decider } from '../../kernel/decider.ts'
import { stored, type EventsOf } from '../../kernel/event-types.ts'
import type { MerchantOwner } from '../../kernel/owner.ts'

/** Money that a customer puts into the wallet by one payment intent. */
export const walletTopupEvents = {
  WalletTopupRequested: stored(
    1,
    record({ customer: Uuid, amount: AmountMinor, currency: Currency, paymentIntent: Uuid }),
  ),
  WalletTopupCompleted: stored(1, record({ paymentIntent: Uuid })),
  WalletTopupFailed: stored(1, record({ paymentIntent: Uuid })),
  /** The operator has taken back what had come in. */
  WalletTopupReturned: stored(1, record({ paymentIntent: Uuid })),
}

export type WalletTopupEvents = EventsOf<typeof walletTopupEvents>

type Terms = WalletTopupEvents['WalletTopupRequested']

export interface ExistingTopup extends Terms, MerchantOwner {
  readonly createdAt: string
  readonly status: 'pending' | 'succeeded' | 'failed'
}

export type WalletTopup = { readonly status: 'none' } | ExistingTopup

export type WalletTopupCommands = {
  RequestTopup: Terms
  CompleteTopup: object
  FailTopup: object
  ReturnTopup: object
}

export const walletTopup: Decider<WalletTopup, WalletTopupCommands, WalletTopupEvents> = {
  category: 'wallet_topup',
  perOperation: true,
  events: walletTopupEvents,
  initial: () => ({ status: 'none' }),

  // Its intent is final where it has succeeded or failed: what is paid after that goes back to the payer.
  decide: {
    RequestTopup: (terms, { status }) =>
      status === 'none' ? [{ type: 'WalletTopupRequested', data: terms }] : [],

    CompleteTopup(_, state) {
      const { status, paymentIntent } = begun(state)
      return status === 'pending' ? [{ type: 'WalletTopupCompleted', data: { paymentIntent } }] : []
    },

    FailTopup(_, state) {
      const { status, paymentIntent } = begun(state)
      return status === 'pending' ? [{ type: 'WalletTopupFailed', data: { paymentIntent } }] : []
    },

    ReturnTopup(_, state) {
      const { status, paymentIntent } = begun(state)
      return status === 'succeeded' ? [{ type: 'WalletTopupReturned', data: { paymentIntent } }] : []
    },
  },

  evolve: {
    WalletTopupRequested: (_, terms, { merchant, livemode, at }) => {
      return { ...terms, merchant, livemode, createdAt: at, status: 'pending' }
    },
    WalletTopupCompleted: (state) => ({ ...begun(state), status: 'succeeded' }),
    WalletTopupFailed: (state) => ({ ...begun(state), status: 'failed' }),
    WalletTopupReturned: (state) => ({ ...begun(state), status: 'failed' }),
  },
}
