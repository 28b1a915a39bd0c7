import { derivedId } from '../../packages/contract/identity.ts'
import { bookId } from '../../packages/domain/ledger/accounts.ts'
import type { BookCommands } from '../../packages/domain/ledger/book.ts'
import type { LedgerEvents } from '../../packages/domain/ledger/events.ts'
import type { Context, Message } from '../../packages/kernel/decider.ts'
import { context } from './scenarios.ts'

export type Command = Message<BookCommands>
export type Event = Message<LedgerEvents>

export interface Sent {
  readonly command: Command
  readonly context: Context
}

/** A hold as a person would note it down, beside the book. */
export interface NotedHold {
  readonly placed: LedgerEvents['HoldPlaced']
  status: 'placed' | 'advanced' | 'posted' | 'voided'
  returned: boolean
}

/** One random choice; what it means depends on what has happened before. */
export interface Choice {
  readonly kind: (typeof kinds)[number]
  readonly pick: number
  readonly amount: number
  readonly fee: number
  readonly byPolicy: boolean
}

export const kinds = [
  'topup', 'payment', 'card', 'late', 'late refund', 'payout', 'payout', 'refund', 'refund', 'advance', 'advance',
  'settle', 'settle', 'void', 'void', 'return', 'release', 'reverse', 'repeat', 'repeat', 'stranger', 'other amount',
] as const

const bookContext: Context = { ...context, id: bookId(context.merchant, context.livemode, 'XOF') }
const available = 'merchant.available'
const rail = 'mobile_money.SN.wave'

/** What was sent and what came of it: a second, simple account of the same book. */
export class Notes {
  readonly sent: Sent[] = []
  readonly events: Event[] = []
  readonly holds = new Map<string, NotedHold>()
  /** Cards' payments. */
  readonly payments: string[] = []
  /** Debits less credits of each account. */
  readonly debits = new Map<string, number>()
  #ids = 0
  #position = 0

  /** Makes a command of a choice; `undefined` when there is nothing that it could be about. */
  next({ kind, pick, amount, fee, byPolicy }: Choice): Sent | undefined {
    const command = this.#command({ kind, pick, amount, fee })
    if (kind === 'repeat') return this.sent[pick % this.sent.length]
    if (!command) return undefined
    // A policy meets each event once; requests of people and timers have no cause.
    const mustHaveCause = kind === 'payment' || kind === 'card' || kind === 'late' || kind === 'return'
    if (kind === 'topup' || kind === 'release' || kind === 'reverse' || !(byPolicy || mustHaveCause)) {
      return { command, context: bookContext }
    }
    const cause = { policy: pick % 2 === 0 ? 'even' : 'odd', position: ++this.#position }
    return { command, context: { ...bookContext, cause } }
  }

  note(sent: Sent, events: readonly Event[]): void {
    this.sent.push(sent)
    for (const event of events) {
      this.events.push(event)
      for (const { account, side, amount } of event.data.postings) {
        this.debits.set(account, (this.debits.get(account) ?? 0) + (side === 'debit' ? amount : -amount))
      }
      if (event.type === 'HoldPlaced') {
        this.holds.set(event.data.holdId, { placed: event.data, status: 'placed', returned: false })
      }
      if (event.type === 'HoldAdvanced') this.holds.get(event.data.holdId)!.status = 'advanced'
      if (event.type === 'HoldPosted') this.holds.get(event.data.holdId)!.status = 'posted'
      if (event.type === 'HoldVoided') this.holds.get(event.data.holdId)!.status = 'voided'
      if (event.data.template === 'payout.return') this.holds.get(event.data.subject.id)!.returned = true
      if (event.data.template === 'payment.succeeded_deferred') this.payments.push(event.data.subject.id)
    }
  }

  open(): NotedHold[] {
    return [...this.holds.values()].filter(({ status }) => status === 'placed' || status === 'advanced')
  }

  #command({ kind, pick, amount, fee }: Omit<Choice, 'byPolicy'>): Command | undefined {
    const subject = (type: string) => ({ type, id: derivedId(context.id, String(++this.#ids)) })
    const holdId = one([...this.holds.keys()], pick)
    const source = available
    switch (kind) {
      case 'topup': {
        // Few ids, so that the same one comes again with the same amount and with another.
        const id = derivedId(context.id, `topup ${pick % 3}`)
        return post({ template: 'sandbox.topup', subject: { type: 'topup', id }, amount })
      }
      case 'payment':
        return post({ template: 'payment.succeeded', subject: subject('payment'), rail, amount, fee: Math.min(fee, amount) })
      case 'card': {
        const priced = { rail: 'card', amount, fee: Math.min(fee, amount) }
        const availableAt = '2026-01-03T12:00:00.000Z'
        return post({ template: 'payment.succeeded_deferred', subject: subject('payment'), ...priced, availableAt })
      }
      case 'late':
        return post({ template: 'payment.late', subject: subject('payment'), rail, amount })
      case 'late refund':
        return post({ template: 'payment.late_refund', subject: subject('payment'), rail, amount: Math.ceil(amount / 9) })
      case 'payout':
        return place({ template: 'payout.hold', subject: subject('payout'), amount, fee, source })
      case 'refund': {
        const payment = one(this.payments, pick)
        return place({ template: 'refund.hold', subject: subject('refund'), amount, source, ...(payment && { payment }) })
      }
      case 'other amount': {
        const placed = holdId && this.holds.get(holdId)?.placed
        if (!placed) return undefined
        return place({ template: placed.template, subject: placed.subject, amount: placed.amounts.amount + 1, source })
      }
      case 'advance':
        return holdId ? { type: 'AdvanceHold', data: { holdId } } : undefined
      case 'settle':
        return holdId ? { type: 'PostHold', data: { holdId, rail } } : undefined
      case 'void':
        return holdId ? { type: 'VoidHold', data: { holdId } } : undefined
      case 'stranger':
        return { type: 'VoidHold', data: { holdId: subject('payout').id } }
      case 'return': {
        const paid = [...this.holds.values()].filter((hold) => hold.status === 'posted' && !hold.returned)
        const payout = one(paid.filter(({ placed }) => placed.template === 'payout.hold'), pick)
        return payout && post({ template: 'payout.return', subject: payout.placed.subject, rail, ...payout.placed.amounts, source })
      }
      case 'release': {
        const payment = one(this.payments, pick)
        return payment === undefined ? undefined : { type: 'ReleasePayment', data: { payment } }
      }
      case 'reverse': {
        const posted = this.events.flatMap((event) => (event.type === 'EntryPosted' ? [event.data] : []))
        const entry = one(posted, pick)
        return entry && { type: 'ReverseEntry', data: { entry } }
      }
      case 'repeat':
        return undefined
    }
  }
}

function post(data: BookCommands['PostEntry']): Command {
  return { type: 'PostEntry', data }
}

function place(data: BookCommands['PlaceHold']): Command {
  return { type: 'PlaceHold', data }
}

function one<Item>(items: readonly Item[], pick: number): Item | undefined {
  return items.length === 0 ? undefined : items[pick % items.length]
}
