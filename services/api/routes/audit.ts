import { perform } from '../../../packages/contract/routes.ts'
import { section } from '../../../packages/contract/section.ts'
import { ReceiptResource, showReceipt } from '../actions/audit.ts'

const rows = [
  perform('GET /api/v1/audit/receipts/{id}', {
    summary: 'An event, or the last one of a resource or movement, with the proof that the log has signed it',
    scope: 'audit.read',
    inferred: true,
    params: { id: 'text' },
    returns: ReceiptResource,
    refusals: ['resource_must_exist', 'event_must_be_signed'],
    action: showReceipt,
  }),
]

export const auditRoutes = section(
  'Audit',
  'Proofs to keep: what a receipt says can be checked years later, offline, by a program that is not ours. ' +
    'A credential gets receipts of what it may read.',
  rows,
)
