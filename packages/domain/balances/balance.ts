import {
  AmountMinor,
  Currency,
  literals,
  optional,
  record,
  SignedMinor,
  Timestamp,
  Type,
  type Static,
} from '../../contract/vocabulary.ts'
import type { Balances } from '../ledger/state.ts'
import type { Moment } from './days.ts'

const Amounts = Type.Array(record({ amount: SignedMinor, currency: Currency }))

export const BalanceResource = record({
  object: literals('balance'),
  livemode: Type.Boolean(),
  available: Amounts,
  pending: Amounts,
  reserved: Amounts,
  as_of: Timestamp,
  known_at: optional(Timestamp),
})

export type BalanceView = Static<typeof BalanceResource>

/** The two times of whatever is counted: when it counts, and when it was known. */
export const MomentQuery = { as_of: optional(Timestamp), known_at: optional(Timestamp) }

export const BalanceQuery = record({ currency: optional(Currency), ...MomentQuery })

export function momentOf({ as_of, known_at }: { as_of?: string; known_at?: string }): Moment {
  return {
    asOf: as_of && new Date(as_of).toISOString(),
    knownAt: known_at && new Date(known_at).toISOString(),
  }
}

export const TopUpRequest = record({ amount: AmountMinor, currency: Currency })

/** The balance of one book. */
export interface CurrencyBalance extends Balances {
  readonly currency: string
}

export function viewBalance(
  balances: readonly CurrencyBalance[],
  {
    livemode,
    asOf,
    knownAt,
  }: { readonly livemode: boolean; readonly asOf: string; readonly knownAt?: string },
): BalanceView {
  const sorted = balances.toSorted((one, other) => (one.currency < other.currency ? -1 : 1))
  return {
    object: 'balance',
    livemode,
    available: sorted.map(({ available, currency }) => ({ amount: available, currency })),
    pending: sorted.map(({ pending, currency }) => ({ amount: pending, currency })),
    reserved: sorted.map(({ reserved, currency }) => ({ amount: reserved, currency })),
    as_of: asOf,
    ...(knownAt !== undefined && { known_at: knownAt }),
  }
}

/** Domain model 6: balance.available is sent after these entries. */
export const availableTemplates: readonly string[] = ['payment.available', 'sandbox.topup']
