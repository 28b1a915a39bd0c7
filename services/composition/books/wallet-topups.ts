import { account } from '../../../packages/domain/ledger/accounts.ts'
import { wholePlan } from '../../../packages/domain/ledger/plans.ts'
import type { ExistingTopup } from '../../../packages/domain/wallets/topup.ts'

interface Terms extends Pick<ExistingTopup, 'customer' | 'amount' | 'currency'> {
  readonly country: string
}

/** Makes the intent by which a top-up is paid. */
export function intentOfTopup(id: string, { country, ...terms }: Terms) {
  const data = {
    ...terms,
    transactionCountry: country,
    payerCountry: null,
    railCountry: null,
    description: null,
    metadata: {},
    purpose: { type: 'topup' as const, id },
    plan: wholePlan('topup', account('wallet', terms.customer), terms.amount),
  }
  return { type: 'CreateIntent', data } as const
}
