import type { OperationRow } from '../../packages/domain/payment-intents/operation.ts'
import { operations } from '../../projections/operations.ts'
import type { Tools } from './runner/process.ts'

const waitMs = 1_000

/**
 * The operation behind a reference that a provider knows. Throws when it is not known yet: the provider calls
 * again.
 */
export async function operationOf(reference: string, { dependencies }: Tools): Promise<OperationRow> {
  const where = [{ column: 'id', operator: '=', value: reference }] as const
  const find = () =>
    dependencies.reads.page<OperationRow>({ from: operations.name, where, order: 'id', limit: 1 })
  const known = (await find()).rows[0]
  if (known) return known
  await dependencies.reads.reached(await dependencies.store.head(), waitMs, operations.name)
  const [row] = (await find()).rows
  if (!row) throw new Error(`a provider reports operation ${reference}, which is not known`)
  return row
}
