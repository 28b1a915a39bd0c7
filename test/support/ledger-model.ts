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
  'topup',
  'payment',
  'card',
  'late',
  'late refund',
  'payout',
  'payout',
  'refund',
  'refund',
  'advance',
  'advance',
  'settle',
  'settle',
  'void',
  'void',
  'return',
  'release',
  'reverse',
  'repeat',
  'repeat',
  'stranger',
  'other amount',
] as const

const causedAlways: readonly string[] = ['payment', 'card', 'late', 'return']
const causedNever: readonly string[] = ['topup', 'release', 'reverse']
const bookContext: Context = { ...context, id: bookId(context.merchant, context.livemode, 'XOF') }
const source = 'merchant.available'
const rail = 'mobile_money.SN.wave'

const statusAfter = { HoldAdvanced: 'advanced', HoldPosted: 'posted', HoldVoided: 'voided' } as const

/** What was sent and what came of it: a second, simple account of the same book. */
export class Notes {
  readonly sent: Sent[] = []
  readonly events: Event[] = []
  readonly holds = new Map<string, NotedHold>()
  /** Payments by card. */
  readonly payments: string[] = []
  /** Debits less credits of each account. */
  readonly debits = new Map<string, number>()
  #ids = 0
  #position = 0

  /** Makes a command of a choice; `undefined` when there is nothing that it could be about. */
  next(choice: Choice): Sent | undefined {
    const { kind, pick, byPolicy } = choice
    const command = this.#command(choice)
    if (kind === 'repeat') return this.sent[pick % this.sent.length]
    if (!command) return undefined
    // A policy meets each event once; requests of people and timers have no cause.
    const isCaused = causedAlways.includes(kind) || (byPolicy && !causedNever.includes(kind))
    if (!isCaused) return { command, context: bookContext }
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
      this.#noteHold(event)
      const { template, subject } = event.data
      if (template === 'payout.return') this.holds.get(subject.id)!.returned = true
      if (template === 'payment.succeeded_deferred') this.payments.push(subject.id)
    }
  }

  #noteHold({ type, data }: Event): void {
    if (type === 'EntryPosted') return
    const { holdId } = data
    if (type === 'HoldPlaced') this.holds.set(holdId, { placed: data, status: 'placed', returned: false })
    else this.holds.get(holdId)!.status = statusAfter[type]
  }

  open(): NotedHold[] {
    return [...this.holds.values()].filter(({ status }) => status === 'placed' || status === 'advanced')
  }

  #command(choice: Choice): Command | undefined {
    const { kind, pick } = choice
    switch (kind) {
      case 'repeat':
        return undefined
      case 'topup':
      case 'payment':
      case 'card':
      case 'late':
      case 'late refund':
        return this.#entry(kind, choice)
      case 'payout':
      case 'refund':
      case 'other amount':
        return this.#hold(kind, choice)
      case 'stranger':
        return { type: 'VoidHold', data: { holdId: this.#subject('payout').id } }
      case 'return':
        return this.#return(pick)
      case 'release': {
        const payment = one(this.payments, pick)
        return payment === undefined ? undefined : { type: 'ReleasePayment', data: { payment } }
      }
      case 'reverse': {
        const posted = this.events.flatMap((event) => (event.type === 'EntryPosted' ? [event.data] : []))
        const entry = one(posted, pick)
        return entry && { type: 'ReverseEntry', data: { entry } }
      }
      case 'advance':
      case 'settle':
      case 'void':
        return this.#step(kind, pick)
    }
  }

  #entry(kind: 'topup' | 'payment' | 'card' | 'late' | 'late refund', { pick, ...choice }: Choice): Command {
    // Few ids, so that the same one comes again with the same amount and with another.
    const topup = { type: 'topup', id: derivedId(context.id, `topup ${pick % 3}`) }
    const { amount } = choice
    if (kind === 'topup') return post({ template: 'sandbox.topup', subject: topup, amount })
    const subject = this.#subject('payment')
    if (kind === 'late') return post({ template: 'payment.late', subject, rail, amount })
    const part = Math.ceil(amount / 9)
    if (kind === 'late refund') return post({ template: 'payment.late_refund', subject, rail, amount: part })
    const priced = { subject, rail, amount, fee: Math.min(choice.fee, amount) }
    if (kind === 'payment') return post({ template: 'payment.succeeded', ...priced })
    const availableAt = '2026-01-03T12:00:00.000Z'
    return post({ template: 'payment.succeeded_deferred', ...priced, availableAt })
  }

  #hold(kind: 'payout' | 'refund' | 'other amount', { pick, amount, fee }: Choice): Command | undefined {
    if (kind === 'payout') {
      return place({ template: 'payout.hold', subject: this.#subject('payout'), amount, fee, source })
    }
    if (kind === 'refund') {
      const payment = one(this.payments, pick)
      const subject = this.#subject('refund')
      return place({ template: 'refund.hold', subject, amount, source, ...(payment && { payment }) })
    }
    const placed = one([...this.holds.values()], pick)?.placed
    if (!placed) return undefined
    const { template, subject, amounts } = placed
    return place({ template, subject, amount: amounts.amount + 1, source })
  }

  #step(kind: 'advance' | 'settle' | 'void', pick: number): Command | undefined {
    const holdId = one([...this.holds.keys()], pick)
    if (!holdId) return undefined
    if (kind === 'settle') return { type: 'PostHold', data: { holdId, rail } }
    return { type: kind === 'advance' ? 'AdvanceHold' : 'VoidHold', data: { holdId } }
  }

  #return(pick: number): Command | undefined {
    const payouts = [...this.holds.values()].filter(({ placed }) => placed.template === 'payout.hold')
    const paid = one(
      payouts.filter(({ status, returned }) => status === 'posted' && !returned),
      pick,
    )
    if (!paid) return undefined
    const { subject, amounts } = paid.placed
    return post({ template: 'payout.return', subject, rail, ...amounts, source })
  }

  #subject(type: string) {
    return { type, id: derivedId(context.id, String(++this.#ids)) }
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
