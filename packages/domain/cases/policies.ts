import { policy, to, type PolicyCommand } from '../../kernel/policy.ts'
import type { PaymentIntentEvents } from '../payment-intents/events.ts'
import { lastAutomaticRefund } from '../payment-intents/late-refunds.ts'
import type { PayoutEvents } from '../payouts/events.ts'
import type { RefundEvents } from '../refunds/events.ts'
import { caseIdOf, supportCase, type CaseCommands, type CaseKind } from './case.ts'

type Opened = CaseCommands['OpenCase']

const silence = 'Asked for three days, the operator has not said what became of it'

/** Events of other families that leave a decision to people. */
const opening = policy<PayoutEvents & RefundEvents & PaymentIntentEvents>('case_opening', {
  PaymentIntentResultContradicted: ({ id, data }) => {
    const { operationId, recorded, word, remedy } = data
    if (remedy !== 'case') return []
    const reason = `The payment has come ${recorded === 'late' ? 'late' : 'in'} here, and the provider says: ${word}`
    const opened = { ...about('payment_contradicted', 'payment_intent', id), reason, money: sumOf(data) }
    return [openCase(opened, `${operationId} ${word}`)]
  },
  PaymentIntentLateRefundFailed: ({ id, data }) => {
    if (data.next || data.isBackOtherwise) return []
    const reason = `What was paid after the end of the intent does not go back to the payer: ${data.message}`
    const opened = { ...about('late_payment_not_refunded', 'payment_intent', id), reason, money: sumOf(data) }
    // Once people have had it tried again, a new failure is a new question.
    const isAutomatic = data.refund === lastAutomaticRefund(data.operationId)
    return [openCase(opened, isAutomatic ? data.operationId : data.refund)]
  },
  PaymentIntentLateRefundContradicted: ({ id, eventId, data }) => {
    const reason = `What was paid after the end of the intent ${lateRecords[data.recorded]}, and the provider says of refund ${data.refund}: ${data.word}`
    const opened = { ...about('payment_contradicted', 'payment_intent', id), reason, money: sumOf(data) }
    return [openCase(opened, eventId)]
  },
  PaymentIntentEscalated: ({ id, data }) => [
    openCase({
      ...about('payment_outcome_unknown', 'payment_intent', id),
      reason: silence,
      money: sumOf(data),
    }),
  ],
  PayoutResultContradicted: ({ id, eventId, data: { recorded, word, remedy, money } }) => {
    if (remedy !== 'case') return []
    const reason = `The payout is ${recorded} here, and the operator says that it is ${word}`
    // What was returned may have been contradicted before, too.
    const fact = recorded === 'returned' ? eventId : word
    return [openCase({ ...about('payout_contradicted', 'payout', id), reason, money: sumOf(money) }, fact)]
  },
  PayoutChargeRefused: ({ id, eventId, data: { money, reason: why } }) => {
    const reason = `The payout has failed here, the operator has paid it, and it cannot be charged again: ${why}`
    return [openCase({ ...about('payout_contradicted', 'payout', id), reason, money: sumOf(money) }, eventId)]
  },
  RefundChargeRefused: ({ id, eventId, data }) => {
    const reason = `The refund has failed here, the provider has paid it, and it cannot be charged: ${data.reason}`
    return [openCase({ ...about('refund_contradicted', 'refund', id), reason, money: sumOf(data) }, eventId)]
  },
  RefundResultContradicted: ({ id, data }) => {
    if (data.remedy !== 'case') return []
    const reason = `The refund has ${data.recorded} here, and the provider says that it has ${data.word}`
    return [
      openCase({ ...about('refund_contradicted', 'refund', id), reason, money: sumOf(data) }, data.word),
    ]
  },
  PayoutEscalated: ({ id }) => [
    openCase({ ...about('payout_outcome_unknown', 'payout', id), reason: silence, money: null }),
  ],
  RefundEscalated: ({ id }) => [
    openCase({ ...about('refund_outcome_unknown', 'refund', id), reason: silence, money: null }),
  ],
})

const lateRecords = {
  succeeded: 'went back to the payer',
  failed: 'did not go back to the payer',
  refunded_otherwise: 'went back to the payer by another refund',
} as const

export const casePolicies = [opening]

/** `fact` distinguishes two cases of one kind about the same thing. */
export function openCase(opened: Opened, fact = ''): PolicyCommand {
  return to(supportCase, caseIdOf(opened.kind, opened.subject.id, fact), { type: 'OpenCase', data: opened })
}

export function about(kind: CaseKind, type: Opened['subject']['type'], id: string) {
  return { kind, subject: { type, id } }
}

export function sumOf({ amount, currency }: { readonly amount: number; readonly currency: string }) {
  return { amount, currency }
}
