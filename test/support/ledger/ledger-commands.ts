import { bookId } from '../../../packages/domain/ledger/accounts.ts'
import { book } from '../../../packages/domain/ledger/book.ts'
import type { BookCommands, PlaceHold, PostEntry } from '../../../packages/domain/ledger/commands.ts'
import type { EntryEvents, HoldPart, LedgerEvents } from '../../../packages/domain/ledger/events.ts'
import type { Book } from '../../../packages/domain/ledger/state.ts'
import { decide, evolve, type Context, type Message } from '../../../packages/kernel/decider.ts'
import { context as anyContext, fold, frozen, stampOf } from '../scenarios.ts'

/** The book of one merchant's play money. */
export const context: Context = { ...anyContext, id: bookId(anyContext.merchant, anyContext.livemode, 'XOF') }
export const later = '2026-01-03T12:00:00.000Z'
export const wave = 'mobile_money.SN.wave'

export const topup = { type: 'topup', id: '0190a1b2-0000-7000-8000-000000000010' }
export const payment = { type: 'payment', id: '0190a1b2-0000-7000-8000-000000000011' }
export const payout = { type: 'payout', id: '0190a1b2-0000-7000-8000-000000000012' }
export const refund = { type: 'refund', id: '0190a1b2-0000-7000-8000-000000000013' }

/** What moves money; closing a book moves none. */
export type Command = Message<Omit<BookCommands, 'CloseBook' | 'ReopenBook'>>
export type Event = Message<EntryEvents>

/** What a command that moves money decides. */
export function entriesOf(command: Command, state: Book, by: Context): readonly Event[] {
  return decide(book, command, state, by) as readonly Event[]
}

// Commands

export const post = (data: PostEntry): Command => ({ type: 'PostEntry', data })
export const place = (data: PlaceHold): Command => ({ type: 'PlaceHold', data })
export const toppedUp = (amount: number) => post({ template: 'sandbox.topup', subject: topup, amount })
export const paid = post({
  template: 'payment.succeeded',
  subject: payment,
  rail: wave,
  amount: 10_000,
  fee: 200,
})
export const paidByCard = post({
  template: 'payment.succeeded_deferred',
  subject: payment,
  rail: 'card',
  amount: 10_000,
  fee: 390,
  availableAt: later,
})

interface OnePart extends Pick<PlaceHold, 'template' | 'subject'> {
  readonly amount: number
  readonly fee?: number
  readonly source?: HoldPart['source']
  readonly rail?: string
  readonly payment?: string
}

/** A hold of one part, owned by its subject. */
export function holdOf({ template, subject, amount, fee = 0, ...more }: OnePart): PlaceHold {
  const { source = 'merchant.available', rail = wave, payment } = more
  const feeAccount = fee > 0 ? 'revenue.payout_fees' : null
  const parts = [{ id: subject.id, source, amount, fee, feeAccount, rail } as const]
  const owner = `${subject.type}-${subject.id}`
  return { template, subject, owner, parts, ...(payment !== undefined && { payment }) }
}

export const payoutOf = (amount: number, fee = 0) =>
  holdOf({ template: 'payout.hold', subject: payout, amount, fee })
export const payoutAsked = payoutOf(5_000, 50)
export const refundOf = (amount: number, of = payment.id) =>
  holdOf({ template: 'refund.hold', subject: refund, amount, payment: of })
export const refundAsked = refundOf(4_000)
export const held = place(payoutAsked)
export const refundHeld = place(refundAsked)
export const advance = (holdId: string): Command => ({ type: 'AdvanceHold', data: { holdId } })
export const settle = (holdId: string): Command => ({ type: 'PostHold', data: { holdId, rail: wave } })
export const giveBack = (holdId: string): Command => ({ type: 'VoidHold', data: { holdId } })
export const release: Command = { type: 'ReleasePayment', data: { payment: payment.id } }

/** The history that results from these commands. */
export function after(...commands: readonly Command[]): Event[] {
  const state = book.initial()
  return commands.flatMap((command) => {
    const events = entriesOf(command, state, context)
    for (const event of events) evolve(book, state, frozen(event), stampOf(context))
    return events
  })
}

export function stateAfter(...commands: readonly Command[]): Book {
  return fold(book, after(...commands))
}

export function entryPosted(command: Command): LedgerEvents['EntryPosted'] {
  const [event] = after(command)
  if (event?.type !== 'EntryPosted') throw new Error('this command posts no entry')
  return event.data
}
