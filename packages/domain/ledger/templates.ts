import type { RefusalName } from '../../contract/refusals.ts'
import {
  merchantAvailable,
  merchantPending,
  paymentFees,
  payoutFees,
  provider,
  sandboxFunding,
  suspenseUnmatched,
  type AccountCode,
} from './accounts.ts'
import { credit, debit, mirror, type Posting } from './postings.ts'

interface Plain {
  readonly amount: number
}

interface Railed extends Plain {
  readonly rail: string
}

interface Priced extends Railed {
  readonly fee: number
}

/** Domain model 2.3: entries that are final at once. `amount` is what the payer paid, or what moves. */
export const entryTemplates = {
  'payment.succeeded': ({ rail, amount, fee }: Priced) => [
    debit(provider(rail), amount),
    credit(merchantAvailable, amount - fee),
    credit(paymentFees, fee),
  ],
  'payment.succeeded_deferred': ({ rail, amount, fee }: Priced & { readonly availableAt: string }) => [
    debit(provider(rail), amount),
    credit(merchantPending, amount - fee),
    credit(paymentFees, fee),
  ],
  'payment.available': ({ amount }: Plain) => [
    debit(merchantPending, amount),
    credit(merchantAvailable, amount),
  ],
  'payment.late': ({ rail, amount }: Railed) => [
    debit(provider(rail), amount),
    credit(suspenseUnmatched, amount),
  ],
  'payment.late_refund': ({ rail, amount }: Railed) => [
    debit(suspenseUnmatched, amount),
    credit(provider(rail), amount),
  ],
  'payout.return': ({ rail, amount, fee, source }: Priced & { readonly source: AccountCode }) => [
    debit(provider(rail), amount),
    debit(payoutFees, fee),
    credit(source, amount + fee),
  ],
  /** Beyond domain model 2.3: what an operator did although it had said that it had not, or undid later. */
  'payout.paid_late': ({ rail, amount, fee, source }: Priced & { readonly source: AccountCode }) => [
    debit(source, amount + fee),
    credit(provider(rail), amount),
    credit(payoutFees, fee),
  ],
  'refund.paid_late': ({ rail, amount }: Railed) => [
    debit(merchantAvailable, amount),
    credit(provider(rail), amount),
  ],
  'refund.return': ({ rail, amount }: Railed) => [
    debit(provider(rail), amount),
    credit(merchantAvailable, amount),
  ],
  'sandbox.topup': ({ amount }: Plain) => [debit(sandboxFunding, amount), credit(merchantAvailable, amount)],
  reversal: ({ postings }: { readonly postings: readonly Posting[] }) => postings.map(mirror),
}

export type EntryTemplate = keyof typeof entryTemplates
/** A release takes its amount from the book, a reversal from an entry: both have their own command. */
export type PostedTemplate = Exclude<EntryTemplate, 'payment.available' | 'reversal'>

/** How an entry of a hold is called at each step; the postings follow from the parts alone (`holds.ts`). */
export interface HoldSteps {
  /** Left out where a hold goes straight from placed to posted. */
  readonly advanced?: string
  readonly posted: string
  readonly voided: { readonly placed: string; readonly advanced: string }
  /** Each part is a subject of its own, of this type and with the part's id, and ends by itself. */
  readonly parts?: string
  readonly uncovered: RefusalName
}

/** Domain model 2.3: money that is set aside first. */
export const holdTemplates = {
  'payout.hold': {
    advanced: 'payout.submit',
    posted: 'payout.settle',
    voided: { placed: 'payout.cancel', advanced: 'payout.fail' },
    uncovered: 'balance_must_cover_amount_and_fees',
  },
  'batch.hold': {
    advanced: 'payout.submit',
    posted: 'payout.settle',
    voided: { placed: 'batch.release', advanced: 'payout.fail' },
    parts: 'payout',
    uncovered: 'balance_must_cover_amount_and_fees',
  },
  'refund.hold': {
    posted: 'refund.settle',
    voided: { placed: 'refund.fail', advanced: 'refund.fail' },
    uncovered: 'balance_must_cover_the_refund',
  },
  'order.refund_hold': {
    posted: 'refund.settle',
    voided: { placed: 'order.refund_fail', advanced: 'order.refund_fail' },
    uncovered: 'balance_must_cover_the_refund',
  },
} as const satisfies Record<string, HoldSteps>

export type HoldTemplate = keyof typeof holdTemplates
type Steps = (typeof holdTemplates)[HoldTemplate]
export type PostTemplate = Steps['posted']
export type VoidTemplate = Steps['voided']['placed' | 'advanced']
export type AdvanceTemplate = Extract<Steps, { advanced: string }>['advanced']
export type Template = EntryTemplate | HoldTemplate | AdvanceTemplate | PostTemplate | VoidTemplate
