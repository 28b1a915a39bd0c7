import type { Dependencies } from '../../../packages/contract/routes.ts'
import type { Entry } from '../../../packages/domain/ledger/events.ts'
import type { Payment } from '../../../packages/domain/payment-intents/state.ts'
import type { RecordedEvent } from '../../../packages/kernel/projection.ts'
import { payments } from '../../../projections/payment-intents.ts'

/** What is asked of an operator under the id of the subject itself. */
const ownReference = ['payout', 'refund', 'operation']

/**
 * By which the operator knows what entries are about, by subject. For a payment it is the confirmation that
 * was paid, which never changes any more.
 */
export async function operatorReferences(
  { reads }: Pick<Dependencies, 'reads'>,
  entries: readonly RecordedEvent<Entry>[],
): Promise<ReadonlyMap<string, string>> {
  const subjects = entries.map(({ data }) => data.subject)
  const found = new Map(subjects.filter(({ type }) => ownReference.includes(type)).map(({ id }) => [id, id]))
  const paid = [...new Set(subjects.filter(({ type }) => type === 'payment').map(({ id }) => id))]
  if (paid.length === 0) return found
  const { rows } = await reads.page<{ id: string; state: { payment?: Payment } }>({
    from: payments.name,
    columns: ['id', 'state'],
    where: [{ column: 'id', operator: 'in', value: paid }],
    order: 'id',
    limit: paid.length,
  })
  for (const { id, state } of rows) if (state.payment) found.set(id, state.payment.operationId)
  return found
}
