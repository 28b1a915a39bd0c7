import { IdentityFilter } from '../../../packages/contract/lists/envelope.ts'
import { listRows, perform } from '../../../packages/contract/routes.ts'
import { section } from '../../../packages/contract/section.ts'
import { Currency, SignedMinor, Timestamp } from '../../../packages/contract/vocabulary.ts'
import { BalanceQuery, BalanceResource } from '../../../packages/domain/balances/balance.ts'
import { ExplainQuery, ExplanationResource } from '../../../packages/domain/balances/explanation.ts'
import {
  BalanceTransactionResource,
  TransactionType,
  viewTransaction,
  type TransactionRow,
} from '../../../packages/domain/balances/transaction.ts'
import { balanceTransactions } from '../../../projections/balances.ts'
import { explain, showBalance } from '../actions/balances.ts'

const rows = [
  perform('GET /api/v1/balance', {
    summary: 'Available, pending and reserved money per currency, now or at a time',
    scope: 'balance.read',
    query: BalanceQuery,
    returns: BalanceResource,
    action: showBalance,
  }),

  perform('GET /api/v1/balance/explain', {
    summary: 'What a balance consists of: sums by what moved it, and open holds one by one',
    scope: 'balance.read',
    inferred: true,
    query: ExplainQuery,
    returns: ExplanationResource,
    action: explain,
  }),

  listRows('GET /api/v1/balance-transactions', {
    summary: 'Every movement of the balance, newest first',
    scope: 'balance.read',
    from: balanceTransactions,
    returns: BalanceTransactionResource,
    // The read model's columns are the row's fields, declared in one place.
    view: (row) => viewTransaction(row as unknown as TransactionRow),
    paging: 'cursor',
    order: 'position',
    filter: { currency: Currency, type: TransactionType, source: IdentityFilter },
    ranges: { amount: SignedMinor, created_at: Timestamp },
    period: 'created_at',
  }),
]

export const balanceRoutes = section(
  'Balance',
  'What the merchant has: available, pending and reserved, per currency, and every movement of it.',
  rows,
)
