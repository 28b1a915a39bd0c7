import type { NamedExamples } from '../../contract/routes.ts'

export const refundExamples: NamedExamples = {
  part: { summary: 'A part', value: { amount: 2000, reason: 'requested_by_customer' } },
  all: { summary: 'All that is left', value: {} },
}
