import { derivedId } from '../../../packages/contract/identity.ts'
import { bookId } from '../../../packages/domain/ledger/accounts.ts'
import type { EntryEvents, HoldPart, LedgerEvents } from '../../../packages/domain/ledger/events.ts'
import type { Context, Message } from '../../../packages/kernel/decider.ts'
import {
  accounts,
  afterTheEnd,
  causedAlways,
  causedNever,
  collectedFor,
  commandOf,
  deferred,
  moveFor,
  one,
  place,
  post,
  rail,
  type Choice,
  type Command,
  type HoldKind,
} from './ledger-choices.ts'
import { holdOf } from './ledger-commands.ts'
import { endedOf, LateWords } from './ledger-late-words.ts'
import { context } from '../scenarios.ts'

export type Event = Message<EntryEvents & Pick<LedgerEvents, 'EntryRefused'>>

export interface Sent {
  readonly command: Command
  readonly context: Context
}

/** A hold as a person would record it, beside the book. */
export interface NotedHold {
  readonly placed: LedgerEvents['HoldPlaced']
  /** Of each part. */
  readonly status: Map<string, PartStatus>
}

type PartStatus = 'placed' | 'advanced' | 'posted' | 'voided'

const bookContext: Context = { ...context, id: bookId(context.merchant, context.livemode, 'XOF') }
const statusAfter = { HoldAdvanced: 'advanced', HoldPosted: 'posted', HoldVoided: 'voided' } as const

/** What was sent and what came of it: a second, simple account of the same book. */
export class Notes {
  readonly sent: Sent[] = []
  readonly events: Event[] = []
  readonly holds = new Map<string, NotedHold>()
  /** Card payments. */
  readonly payments: string[] = []
  /** Debits less credits, by account. */
  readonly debits = new Map<string, number>()
  readonly #lateWords = new LateWords()
  #ids = 0
  #position = 0

  /** Turns a choice into a command; `undefined` when there is nothing it could be about. */
  next(choice: Choice): Sent | undefined {
    const { kind, pick, byPolicy } = choice
    const command = this.#command(choice)
    if (kind === 'repeat') return this.sent[pick % this.sent.length]
    if (!command) return undefined
    // A policy meets each event once; requests of people and timers have no cause.
    const isCaused = causedAlways.includes(kind) || (byPolicy && !causedNever.includes(kind))
    if (!isCaused) return { command, context: bookContext }
    const cause = { policy: pick % 2 === 0 ? 'even' : 'odd', position: ++this.#position }
    return { command: pick % 3 === 0 ? refusable(command) : command, context: { ...bookContext, cause } }
  }

  note(sent: Sent, events: readonly Event[]): void {
    this.sent.push(sent)
    for (const event of events) {
      this.events.push(event)
      if (event.type === 'EntryRefused') continue
      for (const { account, side, amount } of event.data.postings) {
        this.debits.set(account, (this.debits.get(account) ?? 0) + (side === 'debit' ? amount : -amount))
      }
      this.#noteHold(event)
      const { template, subject } = event.data
      if (afterTheEnd.includes(template)) this.#lateWords.note(subject, template)
      if (deferred.includes(template)) this.payments.push(subject.id)
    }
  }

  #noteHold(event: Event): void {
    const { type, data } = event
    if (type === 'EntryPosted' || type === 'EntryRefused') return
    const { holdId } = data
    if (type === 'HoldPlaced') {
      const status = new Map(data.parts.map(({ id }) => [id, 'placed' as const]))
      return void this.holds.set(holdId, { placed: data, status })
    }
    for (const { id } of this.partsOf(event)) this.holds.get(holdId)!.status.set(id, statusAfter[type])
  }

  /** The parts that an entry is about. */
  partsOf({ data }: Event): readonly HoldPart[] {
    const hold = 'holdId' in data ? this.holds.get(data.holdId) : undefined
    const names = 'parts' in data ? (data.parts as readonly unknown[] | undefined) : undefined
    return hold?.placed.parts.filter(({ id }) => !names || names.includes(id)) ?? []
  }

  openParts({ placed, status }: NotedHold): readonly HoldPart[] {
    return placed.parts.filter(({ id }) => isOpen(status.get(id)))
  }

  open(): NotedHold[] {
    return [...this.holds.values()].filter((hold) => this.openParts(hold).length > 0)
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
      case 'collected':
        return collectedFor(this.#subject('payment'), choice)
      case 'move':
        return moveFor(this.#subject('move'), choice)
      case 'payout':
      case 'escrow payout':
      case 'batch':
      case 'refund':
      case 'order refund':
      case 'other amount':
        return this.#hold(kind, choice)
      case 'stranger':
        return { type: 'VoidHold', data: { holdId: this.#subject('payout').id } }
      case 'late word':
      case 'return':
        return this.#lateWords.next(endedOf(this.holds.values()), pick, { back: kind === 'return' })
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
      case 'give back': {
        const unclaimed = this.open().filter(({ status }) =>
          [...status.values()].every((each) => each === 'placed'),
        )
        const hold = one(unclaimed, pick)
        return hold && { type: 'GiveBackHold', data: { holdId: hold.placed.holdId } }
      }
    }
  }

  #entry(kind: 'topup' | 'payment' | 'card' | 'late' | 'late refund', { pick, ...choice }: Choice): Command {
    // Few ids, so that the same one recurs with the same amount and with another.
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

  #hold(kind: HoldKind, { pick, amount, fee }: Choice): Command | undefined {
    if (kind === 'escrow payout') {
      const subject = this.#subject('payout')
      const from = accounts['escrow.held']
      const hold = holdOf({
        template: 'payout.hold',
        subject,
        amount: Math.ceil(amount / 3),
        fee,
        source: from,
      })
      const feeAccount = 'revenue.escrow_fees' as const
      const product = {
        id: 'product fee',
        source: from,
        amount: 0,
        fee: 1 + (pick % 5),
        feeAccount,
        rail: null,
      }
      return place({ ...hold, parts: [...hold.parts, product] })
    }
    if (kind === 'batch') {
      const subject = this.#subject('payout_batch')
      const parts = Array.from({ length: 1 + (pick % 3) }, (_, index) => {
        const [part] = holdOf({
          template: 'payout.hold',
          subject: this.#subject('payout'),
          amount,
          fee,
        }).parts
        return { ...part!, amount: amount + index }
      })
      return place({ template: 'batch.hold', subject, owner: `payout_batch-${subject.id}`, parts })
    }
    if (kind === 'order refund') {
      const payment = one(this.payments, pick)
      const asked = { template: 'order.refund_hold', subject: this.#subject('refund'), amount } as const
      const hold = holdOf({ ...asked, ...(payment && { payment }) })
      const [part] = hold.parts
      const seller = { ...part!, id: 'seller', source: accounts['seller.pending'], amount: 1 + (pick % 9) }
      return place({ ...hold, parts: [part!, seller] })
    }
    if (kind === 'payout') {
      return place(holdOf({ template: 'payout.hold', subject: this.#subject('payout'), amount, fee }))
    }
    if (kind === 'refund') {
      const payment = one(this.payments, pick)
      const subject = this.#subject('refund')
      return place(holdOf({ template: 'refund.hold', subject, amount, ...(payment && { payment }) }))
    }
    const placed = one([...this.holds.values()], pick)?.placed
    if (!placed) return undefined
    const { template, subject, amounts } = placed
    return place(holdOf({ template, subject, amount: amounts.amount + 1 }))
  }

  #step(kind: 'advance' | 'settle' | 'void', pick: number): Command | undefined {
    const hold = one([...this.holds.values()], pick)
    if (!hold) return undefined
    const { holdId } = hold.placed
    const open = this.openParts(hold)
    const parts = pick % 3 === 0 && open.length > 0 ? [one(open, pick)!.id] : undefined
    const data = { holdId, ...(parts && { parts }) }
    return { type: commandOf[kind], data }
  }

  #subject(type: string) {
    return { type, id: derivedId(context.id, String(++this.#ids)) }
  }
}

/** What is not covered is an event then, and no refusal. */
function refusable(command: Command): Command {
  if (command.type !== 'PostEntry') return command
  return { type: 'PostEntry', data: { ...command.data, isRefusable: true } }
}

export function isOpen(status: PartStatus | undefined): boolean {
  return status === 'placed' || status === 'advanced'
}
