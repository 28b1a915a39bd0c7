import { LanguageQuery } from '../../../packages/contract/payments/hosted-pages.ts'
import { showRow } from '../../../packages/contract/routes.ts'
import { section } from '../../../packages/contract/section.ts'
import {
  OperationResource,
  viewOperation,
  type OperationRow,
} from '../../../packages/domain/payment-intents/operation.ts'
import { operations } from '../../../projections/operations.ts'
import { streamOfOperation } from '../actions/operations.ts'
import { notice } from '../pages/notices.ts'
import { operationPage } from '../pages/operation.ts'

const rows = [
  showRow('GET /operations/status/{operationId}', {
    summary: 'Where a payment, payout or refund stands: a page for browsers, JSON otherwise',
    scope: 'public',
    params: { operationId: ['operation', 'payout', 'refund'] },
    query: LanguageQuery,
    returns: OperationResource,
    from: operations,
    streamOf: streamOfOperation,
    // The columns of the read model are the fields of the row: it is declared with them.
    view: (row) => viewOperation(row as unknown as OperationRow),
    page: operationPage,
    refusedPage: notice,
  }),
]

export const operationRoutes = section(
  'Operations',
  'Where a payment stands, for the payer and for support; and what became of an idempotency key.',
  rows,
)
