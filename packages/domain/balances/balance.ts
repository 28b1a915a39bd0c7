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

const Amounts = Type.Array(record({ amount: SignedMinor, currency: Currency }))

export const BalanceResource = record({
  object: literals('balance'),
  livemode: Type.Boolean(),
  available: Amounts,
  pending: Amounts,
  reserved: Amounts,
  as_of: Timestamp,
})

export type BalanceView = Static<typeof BalanceResource>

export const BalanceQuery = record({ currency: optional(Currency), as_of: optional(Timestamp) })

export const TopUpRequest = record({ amount: AmountMinor, currency: Currency })

/** The balance of one book. */
export interface CurrencyBalance extends Balances {
  readonly currency: string
  readonly position: number
}

export function viewBalance(
  balances: readonly CurrencyBalance[],
  { livemode, asOf }: { readonly livemode: boolean; readonly asOf: string },
): BalanceView {
  const sorted = balances.toSorted((one, other) => (one.currency < other.currency ? -1 : 1))
  return {
    object: 'balance',
    livemode,
    available: sorted.map(({ available, currency }) => ({ amount: available, currency })),
    pending: sorted.map(({ pending, currency }) => ({ amount: pending, currency })),
    reserved: sorted.map(({ reserved, currency }) => ({ amount: reserved, currency })),
    as_of: asOf,
  }
}

/** Domain model 6: balance.available is sent after these entries. */
export const availableTemplates: readonly string[] = ['payment.available', 'sandbox.topup']
