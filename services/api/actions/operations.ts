import type { Request } from '../../../packages/contract/routes.ts'
import type { RowStream } from '../../../packages/contract/row.ts'
import type { OperationRow } from '../../../packages/domain/payment-intents/operation.ts'
import { paymentIntent } from '../../../packages/domain/payment-intents/payment-intent.ts'
import { payout } from '../../../packages/domain/payouts/payout.ts'
import { refund } from '../../../packages/domain/refunds/refund.ts'
import { operations } from '../../../projections/operations.ts'
import { currentRow } from '../kinds/row-handler.ts'

const deciders = { payment_intent: paymentIntent, payout, refund } as const

export const streamOfOperation: RowStream = (row) => {
  // The columns of the read model are the fields of the row: it is declared with them.
  const { resource_object, resource } = row as unknown as OperationRow
  return { decider: deciders[resource_object], id: resource }
}

/** What was requested of a provider, as it stands now. */
export async function currentOperation(
  dependencies: Pick<Request['dependencies'], 'reads' | 'store'>,
  id: string,
): Promise<OperationRow | undefined> {
  const row = await currentRow(dependencies, { from: operations, id, streamOf: streamOfOperation })
  return row as OperationRow | undefined
}
