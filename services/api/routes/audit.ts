import { perform } from '../../../packages/contract/routes.ts'
import { section } from '../../../packages/contract/section.ts'
import { monthExamples } from '../../../packages/domain/periods/examples.ts'
import { ClosedMonthResource, MonthToClose } from '../../../packages/domain/periods/resource.ts'
import { ReceiptResource, showReceipt } from '../actions/audit.ts'
import { closeMonthOfOwner, showMonth } from '../actions/months.ts'

const month = { inferred: true, returns: ClosedMonthResource } as const

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

  perform('GET /api/v1/audit/months/{month}', {
    ...month,
    params: { month: 'text' },
    summary: 'A closed month: what moved on each account, the digest of each file, and the signature',
    scope: 'balance.read',
    refusals: ['resource_must_exist'],
    action: showMonth,
  }),

  perform('POST /api/v1/audit/months', {
    ...month,
    body: MonthToClose,
    examples: monthExamples,
    summary: 'Owner only: close a month that is over, so that nothing counts in it any more',
    scope: 'months.write',
    credentials: ['user'],
    refusals: [
      'resource_must_exist',
      'month_must_be_over',
      'month_must_not_be_in_work',
      'month_must_be_countable',
    ],
    action: closeMonthOfOwner,
  }),
]

export const auditRoutes = section(
  'Audit',
  'Proofs to keep: what a receipt says can be checked years later, offline, by a program that is not ours. ' +
    'A credential gets receipts of what it may read. Months are closed, too: what comes later counts from the ' +
    'first open moment, and says where it belongs.',
  rows,
)
