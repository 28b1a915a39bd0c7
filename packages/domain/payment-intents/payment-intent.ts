import { admitPayment, admitPaymentMethod } from '../../contract/payments/eligibility.ts'
import { begun } from '../../contract/existing.ts'
import { derivedId, publicId } from '../../contract/identity.ts'
import { admitMetadata, changedMetadata, metadataChange } from '../../contract/metadata.ts'
import { refuse } from '../../contract/refusals.ts'
import type { Decider } from '../../kernel/decider.ts'
import type { RailMethod } from '../../kernel/ports/rails.ts'
import { admitPlan, plainPlan, plainPurpose } from '../ledger/plans.ts'
import { cancellationEscalated, cancellationSettled, closed } from './cancellation.ts'
import { paymentIntentEvents, type PaymentFailureCode, type PaymentIntentEvents } from './events.ts'
import { businessMetadata, businessRevision } from './metadata.ts'
import {
  lateRefundContradicted,
  lateRefundFailed,
  lateRefundRecorded,
  lateRefundResumed,
  withLateContradiction,
  withLateRefund,
  withLateRefunded,
  type LateRefund,
  type LateRefundWord,
} from './late-refunds.ts'
import { contradicted, contradictionOf, recordOf, wasTakenBack, type PaymentWord } from './late-words.ts'
import { actionRequired, collected, lateSuccess, leaseUntil, submitted, succeeded } from './outcomes.ts'
import {
  chargeShare,
  recordShare,
  refundedShare,
  releaseShare,
  reserveShare,
  returnShare,
  withChargeRefused,
  withoutShare,
  withShare,
} from './refund-shares.ts'
import { endOf, railOf } from './rail.ts'
import {
  attemptOf,
  created,
  isAwaiting,
  isLocked,
  newIntent,
  withStatus,
  type Attempt,
  type CreatedIntent,
  type PaymentIntent,
} from './state.ts'

type PaymentMethod = Exclude<RailMethod, { type: 'bank' }>
type Created = PaymentIntentEvents['PaymentIntentCreated']
type GivenMetadata = Readonly<Record<string, unknown>>

export type PaymentIntentCommands = {
  /** A payment without a purpose is a plain one and goes to the merchant. */
  CreateIntent: Omit<Created, 'metadata' | 'purpose' | 'plan'> &
    Partial<Pick<Created, 'purpose' | 'plan'>> & { metadata: GivenMetadata }
  AnnotateIntent: { description?: string | null | undefined; metadata?: GivenMetadata | null | undefined }
  /** `statusPages` is the URL below which our pages about operations are. */
  ConfirmIntent: {
    method: PaymentMethod
    preferredFlow: string | null
    returnUrl: string | null
    statusPages: string
  }
  RecordAcceptance: { operationId: string }
  RecordRedirect: { operationId: string; url: string }
  AbortConfirmation: { operationId: string }
  /** Confirmed: the provider says so when it is asked, or a person does. */
  CompletePayment: { operationId: string; isConfirmed?: boolean }
  FailPayment: { operationId: string; code: PaymentFailureCode; message: string }
  CancelIntent: object
  RecordLateRefund: LateRefund
  FailLateRefund: LateRefund & { readonly message: string }
  ContradictLateRefund: LateRefundWord
  /** A person wants late money returned whose refund has failed for good. */
  ResumeLateRefund: { operationId: string }
  ContradictPayment: PaymentWord
  RecordPaymentReturn: { operationId: string }
  /** A canceled intent was not paid, or nobody can say. */
  SettleCancellation: object
  EscalateCancellation: object
  /** Default: everything that is left. */
  ReserveRefund: { refund: string; amount?: number | undefined }
  ReleaseRefund: { refund: string }
  RecordRefund: { refund: string }
  ReturnRefund: { refund: string }
  ChargeRefund: { refund: string; amount: number; attempt: number }
}

export const paymentIntent: Decider<PaymentIntent, PaymentIntentCommands, PaymentIntentEvents> = {
  category: 'payment_intent',
  perOperation: true,
  events: paymentIntentEvents,
  initial: () => ({ status: 'none' }),

  decide: {
    CreateIntent(intent, { status }) {
      if (status !== 'none') return []
      const { transactionCountry: country, currency, amount: amountMinor } = intent
      admitPayment({ country, currency, amountMinor })
      const { purpose = plainPurpose, plan = plainPlan(intent.amount) } = intent
      admitPlan(plan, purpose, intent.amount)
      const metadata = businessMetadata(intent.metadata)
      const data = Object.assign({}, intent, { metadata, purpose, plan })
      return [{ type: 'PaymentIntentCreated', data }]
    },

    AnnotateIntent({ description, metadata: given }, state) {
      const intent = created(state)
      const metadata = metadataChange(intent.metadata, given && businessRevision(given))
      const isDescribed = description !== undefined && description !== intent.description
      if (!metadata && !isDescribed) return []
      if (metadata) admitMetadata(intent.metadata, metadata)
      const { customer } = intent
      const data = { customer, ...(metadata && { metadata }), ...(isDescribed && { description }) }
      return [{ type: 'PaymentIntentAnnotated', data }]
    },

    ConfirmIntent({ method, preferredFlow, returnUrl, statusPages }, state, { id, now }) {
      const intent = created(state)
      if (intent.status !== 'requires_payment_method') return []
      if (intent.locked) refuse('confirmation_must_be_the_only_one', { retryAfterSeconds: 1 })
      const operationId = operationIdOf(id, intent.attempts.length + 1)
      const data = {
        operationId,
        method: admittedMethod(intent, method),
        preferredFlow,
        returnUrl,
        statusUrl: `${statusPages}/${publicId('op', operationId)}`,
        leaseUntil: leaseUntil(now),
      }
      return [{ type: 'PaymentIntentConfirmationStarted', data }]
    },

    RecordAcceptance({ operationId }, state, { now }) {
      const intent = created(state)
      return isLocked(intent) && isAwaiting(intent, operationId) ? [submitted(intent, now)] : []
    },

    RecordRedirect({ operationId, url }, state, { now }) {
      const intent = created(state)
      if (!isLocked(intent) || !isAwaiting(intent, operationId)) return []
      return [actionRequired(operationId, url, now)]
    },

    AbortConfirmation({ operationId }, state) {
      const intent = created(state)
      if (!isLocked(intent) || !isAwaiting(intent, operationId)) return []
      return [{ type: 'PaymentIntentConfirmationAborted', data: { operationId } }]
    },

    // The operator's statement is final: its meaning depends on what the intent is still waiting for, so it
    // is decided here.
    CompletePayment({ operationId, isConfirmed }, state, { now }) {
      const intent = created(state)
      const attempt = attemptOf(intent, operationId)
      if (intent.status === 'succeeded' && intent.payment.operationId === operationId) return []
      if (intent.late.includes(operationId)) return []
      if (wasTakenBack(intent, operationId) && !isConfirmed) return []
      if (!isAwaiting(intent, operationId)) return [lateSuccess(intent, attempt)]
      return [...(isLocked(intent) ? [submitted(intent, now)] : []), succeeded(intent, attempt, now)]
    },

    FailPayment({ operationId, code, message }, state, { now }) {
      const intent = created(state)
      if (!isAwaiting(intent, operationId)) return []
      const rail = railOf(attemptOf(intent, operationId).method)
      const data = { operationId, rail, code, message, purpose: intent.purpose }
      return [...(isLocked(intent) ? [submitted(intent, now)] : []), { type: 'PaymentIntentFailed', data }]
    },

    CancelIntent(_, state) {
      const intent = created(state)
      const { status } = intent
      if (status === 'canceled') return []
      if (isLocked(intent)) {
        refuse('intent_must_be_cancelable', { detail: 'A confirmation of this intent is running' })
      }
      if (status !== 'requires_payment_method' && status !== 'requires_action') {
        refuse('intent_must_be_cancelable', { detail: `An intent that is ${status} cannot be canceled` })
      }
      const operationId = status === 'requires_action' ? intent.attempts.at(-1)!.operationId : null
      return [{ type: 'PaymentIntentCanceled', data: { operationId, purpose: intent.purpose } }]
    },

    RecordLateRefund: (refund, state) => lateRefundRecorded(created(state), refund),
    FailLateRefund: (refusal, state, { now }) => lateRefundFailed(created(state), refusal, now),
    ContradictLateRefund: (said, state) => lateRefundContradicted(created(state), said),
    ResumeLateRefund: ({ operationId }, state) => lateRefundResumed(created(state), operationId),
    ContradictPayment: (said, state) => contradicted(created(state), said),

    RecordPaymentReturn({ operationId }, state) {
      const intent = created(state)
      if (recordOf(intent, operationId) !== 'succeeded') return []
      const money = collected(intent, attemptOf(intent, operationId))
      return [{ type: 'PaymentIntentPaymentReturned', data: { ...money, purpose: intent.purpose } }]
    },

    SettleCancellation: (_, state) => cancellationSettled(created(state)),
    EscalateCancellation: (_, state) => cancellationEscalated(created(state)),

    ReserveRefund: (asked, state) => reserveShare(state, asked),
    ReleaseRefund: ({ refund }, state) => releaseShare(state, refund),
    RecordRefund: ({ refund }, state) => recordShare(state, refund),
    ReturnRefund: ({ refund }, state) => returnShare(state, refund),
    ChargeRefund: (charge, state) => chargeShare(state, charge),
  },

  evolve: {
    PaymentIntentCreated: (_, intent, { merchant, livemode, at }) =>
      newIntent(Object.assign({ merchant, livemode }, intent), at),
    PaymentIntentAnnotated: (state, { description, metadata }) => {
      const intent = begun(state)
      return {
        ...intent,
        description: description === undefined ? intent.description : description,
        metadata: changedMetadata(intent.metadata, metadata ?? {}),
      }
    },
    PaymentIntentConfirmationStarted: (state, attempt, { at }) => {
      const started = Object.assign({ startedAt: at, aborted: false }, attempt)
      const attempts = [...begun(state).attempts, started]
      return withStatus(state, { attempts, status: 'requires_payment_method', locked: true })
    },
    PaymentIntentSubmitted: (state, { expiresAt }) => withStatus(state, { status: 'processing', expiresAt }),
    PaymentIntentActionRequired: (state, { expiresAt, url }) =>
      withStatus(state, { status: 'requires_action', expiresAt, url }),
    PaymentIntentConfirmationAborted: (state, { operationId }) => {
      const attempts = begun(state).attempts.map((attempt) => {
        return attempt.operationId === operationId ? { ...attempt, aborted: true } : attempt
      })
      return withStatus(state, { attempts, status: 'requires_payment_method', locked: false })
    },
    PaymentIntentSucceeded: (state, { operationId, amount, fee, rail, availableOn, credits }, { at }) => {
      const succeeded = { operationId, amount, fee, rail, succeededAt: at, availableOn, credits }
      const payment = Object.assign(succeeded, { refunds: {} })
      return withStatus(state, { status: 'succeeded', payment })
    },
    PaymentIntentFailed: (state, { code, message }) =>
      withStatus(state, { status: 'failed', failure: { code, message } }),
    PaymentIntentCanceled: (state, { operationId }, { at }) =>
      withStatus(state, { status: 'canceled', canceledAt: at, open: operationId !== null }),
    PaymentIntentLateSuccessRecorded: (state, { operationId, refund }) => {
      const intent = begun(state)
      return withLateRefund({ ...intent, late: [...intent.late, operationId] }, refund, 'requested')
    },
    PaymentIntentLateSuccessRefunded: (state, refunded) => withLateRefunded(begun(state), refunded),
    PaymentIntentLateRefundFailed: (state, { refund, next }) => {
      const failed = withLateRefund(begun(state), refund, 'failed')
      return next ? withLateRefund(failed, next.refund, 'requested') : failed
    },
    PaymentIntentLateRefundContradicted: (state, said) => withLateContradiction(begun(state), said),
    PaymentIntentLateRefundResumed: (state, { refund }) => withLateRefund(begun(state), refund, 'requested'),
    PaymentIntentResultContradicted: (state, told) => {
      const intent = begun(state)
      return { ...intent, contradictions: [...intent.contradictions, contradictionOf(told)] }
    },
    PaymentIntentPaymentReturned: (state) => withStatus(state, { status: 'failed', failure: takenBack }),
    PaymentIntentCancellationSettled: closed,
    PaymentIntentEscalated: closed,
    PaymentIntentRefundReserved: (state, { refund, amount, shares }) => {
      return withShare(state, refund, { amount, shares, done: false })
    },
    PaymentIntentRefundReleased: (state, { refund }) => withoutShare(state, refund),
    PaymentIntentRefundReturned: (state, { refund }) => withoutShare(state, refund),
    PaymentIntentRefundCharged: (state, { refund, amount, shares }) => {
      return withShare(state, refund, { amount, shares, done: true })
    },
    PaymentIntentRefundChargeRefused: withChargeRefused,
    PaymentIntentRefunded: (state, { refund, amount }) => refundedShare(state, refund, amount),
  },
}

const takenBack = { code: 'processing_error', message: 'The provider has taken the money back' } as const

/** A confirmation's id follows from the intent's, so that deciding it again gives the same one. */
function operationIdOf(intent: string, attempt: number): string {
  return derivedId(intent, `confirmation ${attempt}`)
}

/** The method as it is kept; refused where the intent cannot be paid by it. */
export function admittedMethod(intent: CreatedIntent, method: PaymentMethod): Attempt['method'] {
  const { transactionCountry: country, currency, amount: amountMinor } = intent
  const admitted = admitPaymentMethod({ country, currency, amountMinor }, method)
  if (admitted.type === 'bank') throw new Error('banks do not take payments')
  return admitted.type === 'card' ? { ...admitted, token: endOf(admitted.token) } : admitted
}
