import { begun } from '../../contract/existing.ts'
import { AmountMinor, CountMinor, Currency, nullable, record, Type, Uuid } from '../../contract/vocabulary.ts'
import type { Decider } from '../../kernel/decider.ts'
import { sealedFor, stored, type EventsOf } from '../../kernel/event-types.ts'
import type { MerchantOwner } from '../../kernel/owner.ts'
import { personal } from '../../kernel/personal.ts'

/** An invoice that is paid, fully or in part, from its customer's wallet. */
export const walletApplicationEvents = {
  WalletApplicationRequested: sealedFor(
    ({ customer }) => `customer/${customer}`,
    stored(
      1,
      record({
        invoice: Uuid,
        customer: Uuid,
        currency: Currency,
        amount: AmountMinor,
        fee: CountMinor,
        /** It pays all that is left of the invoice, which waits for it. */
        isWhole: Type.Boolean(),
        description: personal(nullable(Type.String())),
      }),
    ),
  ),
  /** `remaining` is what it has left in the wallet. */
  WalletApplicationCompleted: stored(1, record({ invoice: Uuid, remaining: CountMinor })),
  /** The wallet did not cover it any more. */
  WalletApplicationFailed: stored(1, record({ invoice: Uuid })),
}

export type WalletApplicationEvents = EventsOf<typeof walletApplicationEvents>

type Terms = WalletApplicationEvents['WalletApplicationRequested']

export interface ExistingApplication extends Terms, MerchantOwner {
  readonly createdAt: string
  readonly status: 'pending' | 'completed' | 'failed'
  readonly remaining: number
}

export type WalletApplication = { readonly status: 'none' } | ExistingApplication

export type WalletApplicationCommands = {
  RequestApplication: Terms
  CompleteApplication: { remaining: number }
  FailApplication: object
}

export const walletApplication: Decider<
  WalletApplication,
  WalletApplicationCommands,
  WalletApplicationEvents
> = {
  category: 'wallet_application',
  perOperation: true,
  events: walletApplicationEvents,
  initial: () => ({ status: 'none' }),

  decide: {
    RequestApplication: (terms, { status }) =>
      status === 'none' ? [{ type: 'WalletApplicationRequested', data: terms }] : [],

    CompleteApplication({ remaining }, state) {
      const { status, invoice } = begun(state)
      if (status === 'failed') throw new Error('money was taken for an application that had failed')
      return status === 'pending'
        ? [{ type: 'WalletApplicationCompleted', data: { invoice, remaining } }]
        : []
    },

    FailApplication(_, state) {
      const { status, invoice } = begun(state)
      if (status === 'completed') throw new Error('no money was taken for an application that is completed')
      return status === 'pending' ? [{ type: 'WalletApplicationFailed', data: { invoice } }] : []
    },
  },

  evolve: {
    WalletApplicationRequested: (_, terms, { merchant, livemode, at }) => {
      return { ...terms, merchant, livemode, createdAt: at, status: 'pending', remaining: 0 }
    },
    WalletApplicationCompleted: (state, { remaining }) => {
      return { ...begun(state), status: 'completed', remaining }
    },
    WalletApplicationFailed: (state) => ({ ...begun(state), status: 'failed' }),
  },
}
