import type { Request } from '../../../packages/contract/routes.ts'
import type { RowStream } from '../../../packages/contract/row.ts'
import { readState } from '../../../packages/kernel/history.ts'
import type { OperationRow } from '../../../packages/domain/payment-intents/operation.ts'
import type { PaymentFailureCode } from '../../../packages/domain/payment-intents/events.ts'
import { paymentIntent } from '../../../packages/domain/payment-intents/payment-intent.ts'
import { payout } from '../../../packages/domain/payouts/payout.ts'
import { refund } from '../../../packages/domain/refunds/refund.ts'
import { operations } from '../../../projections/operations.ts'
import { reversalOf } from '../../../packages/domain/payment-intents/state.ts'
import { brandOf, type Brand } from './organizations/brands.ts'
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

/** What a payer is told of the payment that an operation is for. */
export interface PayersPayment {
  readonly livemode: boolean
  readonly merchant: Brand
  readonly amount: number
  readonly currency: string
  /** By which it was tried last; null: by card. */
  readonly operator: string | null
  /** Why it came to nothing, where this operation was the last try. */
  readonly failure_code: PaymentFailureCode | null
  /** Why what was paid by it does not count. */
  readonly reversal: ReturnType<typeof reversalOf>
}

export async function payersPayment(
  dependencies: Pick<Request['dependencies'], 'store' | 'images' | 'baseUrl'>,
  operation: string,
  id: string,
): Promise<PayersPayment | undefined> {
  const intent = await readState(dependencies.store, paymentIntent, id)
  if (intent.status === 'none') return undefined
  const { livemode, amount, currency, status, attempts, late } = intent
  const isLast = attempts.at(-1)?.operationId === operation
  const method = attempts.at(-1)?.method
  const operator = method?.type === 'mobile_money' ? method.operator : null
  const failure_code = status === 'failed' && isLast ? intent.failure.code : null
  const reversal = isLast || late.includes(operation) ? reversalOf(intent) : null
  const merchant = await brandOf(dependencies, intent)
  return { livemode, merchant, amount, currency, operator, failure_code, reversal }
}
