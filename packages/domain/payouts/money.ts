import { AmountMinor, CountMinor, Currency, record, Type, type Static } from '../../contract/vocabulary.ts'
import { Account } from '../ledger/accounts.ts'

/** What the ledger needs at each step; it is in every event, because a policy sees nothing else. */
export const PayoutMoney = record({
  amount: AmountMinor,
  fee: CountMinor,
  currency: Currency,
  /** The account that pays. */
  source: Account,
  /** `mobile_money.SN.wave`: where the money leaves us. */
  rail: Type.String(),
})

export type PayoutMoney = Static<typeof PayoutMoney>
