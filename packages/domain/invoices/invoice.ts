import { begun, existing } from '../../contract/existing.ts'
import { derivedId } from '../../contract/identity.ts'
import { givenMetadata } from '../../contract/metadata.ts'
import { refuse } from '../../contract/refusals.ts'
import { amountMinorMax } from '../../contract/vocabulary.ts'
import type { Decider, Message } from '../../kernel/decider.ts'
import { firstReminderAt, nextReminderAt, overdueFrom, today, unpaidFrom, usualDueDate } from './due.ts'
import { invoiceEvents, type InvoiceEvents, type Payer } from './events.ts'
import {
  amountDue,
  amountLeft,
  isPayable,
  liveAttempt,
  type ExistingInvoice,
  type Invoice,
  why,
} from './state.ts'
import { paymentReturned, withoutReturned } from './returns.ts'
import { tokenOf } from './token.ts'
import {
  mustNotBeTaking,
  openWalletPayment,
  walletPaymentStarted,
  withoutOpenWalletPayment,
  type WalletWish,
} from './wallet-payments.ts'

type Happening = Message<InvoiceEvents>

/** `pages` is the URL below which invoices are. */
type Given = Omit<InvoiceEvents['InvoiceDrafted'], 'url'> & { pages: string }
/** `ended` is the newest try's intent, where the sender has seen that it can no longer be paid. */
type Seeing = { ended: string | null }

export type InvoiceCommands = {
  CreateInvoice: Given & { isDraft: boolean }
  NumberInvoice: { number: number }
  /** By hand; `paid`: outside, and no money moves here. */
  MoveInvoice: Seeing & { to: 'open' | 'void' | 'uncollectible' | 'paid' }
  StartInvoicePayment: Seeing
  PayInvoice: { amount: number; paymentIntent: string }
  RecordPaymentFailure: { paymentIntent: string }
  ReturnPayment: { amount: number; paymentIntent: string }
  StartWalletPayment: Seeing & WalletWish
  SettleWalletPayment: { application: string }
  FailWalletPayment: { application: string }
  MarkOverdue: object
  NoteReminder: { number: number; isMailed: boolean }
}

export const invoice: Decider<Invoice, InvoiceCommands, InvoiceEvents> = {
  category: 'invoice',
  events: invoiceEvents,
  initial: () => ({ status: 'none' }),

  decide: {
    CreateInvoice({ isDraft, ...given }, { status }, { id, now }) {
      if (status !== 'none') return []
      const terms = termsOf(given, id)
      return [isDraft ? { type: 'InvoiceDrafted', data: terms } : issued(terms, now)]
    },

    // What costs nothing is paid, once it is known by its number; what was paid before that stays so.
    NumberInvoice({ number }, state) {
      const current = begun(state)
      if (current.number !== null) return []
      const numbered: Happening = { type: 'InvoiceNumbered', data: { number } }
      return amountDue(current) === 0 ? [numbered, paid(current, 0, outside)] : [numbered]
    },

    MoveInvoice({ to, ended }, state, { now }) {
      const current = existing(state)
      if (current.status === to) return []
      return moves[to](current, { ended, now })
    },

    StartInvoicePayment({ ended }, state, { id }) {
      const current = existing(state)
      if (!isPayable(current)) refuse('invoice_state_must_allow_it', { detail: why(current) })
      mustNotBeTaking(current)
      const [amount, live] = [amountLeft(current), liveAttempt(current, ended)]
      if (live && live.amount !== amount) refuse('resource_must_not_have_changed')
      if (live) return []
      const number = (current.attempt?.number ?? 0) + 1
      const paymentIntent = derivedId(id, `payment ${number}`)
      return [{ type: 'InvoicePaymentStarted', data: { paymentIntent, number, amount } }]
    },

    PayInvoice({ amount, paymentIntent }, state) {
      const current = begun(state)
      const by: Payer = { type: 'payment_intent', id: paymentIntent }
      if (current.paidBy.some(({ id }) => id === paymentIntent)) return []
      // Only the live try can be paid, and while there is one nothing else changes what is left.
      if (!isPayable(current) || amount > amountLeft(current))
        throw new Error(`${paymentIntent} pays an invoice that is ${current.status}`)
      return [paid(current, amount, by)]
    },

    RecordPaymentFailure({ paymentIntent }, state) {
      const live = liveAttempt(begun(state), null)
      if (live?.paymentIntent !== paymentIntent) return []
      return [{ type: 'InvoicePaymentFailed', data: { paymentIntent } }]
    },

    ReturnPayment: (payment, state, { now }) => paymentReturned(begun(state), payment, now),

    StartWalletPayment: ({ ended, ...wish }, state) => walletPaymentStarted(existing(state), wish, ended),

    SettleWalletPayment({ application }, state) {
      const current = begun(state)
      if (current.paidBy.some(({ id }) => id === application)) return []
      const { amount } = openWalletPayment(current, application)
      return [paid(current, amount, { type: 'wallet', id: application })]
    },

    FailWalletPayment({ application }, state) {
      const { walletPayment } = begun(state)
      if (walletPayment?.application !== application || !walletPayment.isOpen) return []
      return [{ type: 'InvoiceWalletPaymentFailed', data: { application } }]
    },

    MarkOverdue(_, state, { now }) {
      const current = begun(state)
      const { status, subscription, isOverdue, dueDate, timeZone } = current
      if (status !== 'open' || isOverdue || dueDate === null) return []
      const day = { dueDate, timeZone }
      if (overdueFrom(day) > now.toISOString()) return []
      const remindAt = isAnew(current) ? nextReminderAt(day, now) : firstReminderAt(day)
      return [{ type: 'InvoiceBecameOverdue', data: { subscription, unpaidAt: unpaidFrom(day), remindAt } }]
    },

    NoteReminder({ number, isMailed }, state, { now }) {
      const { status, reminders, dueDate, timeZone } = begun(state)
      if (status !== 'open' || dueDate === null || reminders !== number - 1) return []
      const next = nextReminderAt({ dueDate, timeZone }, now)
      return [{ type: 'InvoiceReminded', data: { number, isMailed, next } }]
    },
  },

  evolve: {
    InvoiceDrafted: (_, terms, { livemode, at }) => {
      return { livemode, createdAt: at, issuedOn: null, status: 'draft', ...nothingYet, ...terms }
    },
    InvoiceIssued: (state, terms, { livemode, at }) => {
      const createdAt = state.status === 'none' ? at : state.createdAt
      const issuedOn = today(terms.timeZone, new Date(at))
      return { livemode, createdAt, issuedOn, status: 'open', ...nothingYet, ...terms }
    },
    InvoiceNumbered: (state, { number }) => ({ ...begun(state), number }),
    InvoicePaymentStarted: (state, attempt) => ({
      ...begun(state),
      attempt: { ...attempt, isFailed: false },
    }),
    InvoicePaymentFailed: (state) => {
      const current = begun(state)
      return { ...current, attempt: current.attempt && { ...current.attempt, isFailed: true } }
    },
    InvoiceWalletPaymentStarted: (state, { application, amount }) => {
      return { ...begun(state), walletPayment: { application, amount, isOpen: true } }
    },
    InvoiceWalletPaymentFailed: (state) => withoutOpenWalletPayment(begun(state)),
    InvoicePartlyPaid: (state, { amount, by }) => withPaid(state, amount, by),
    InvoicePaid: (state, { amount, by }) => {
      return { ...withPaid(state, amount, by), status: 'paid', isOverdue: false }
    },
    InvoicePaymentReturned: (state, payment) => withoutReturned(begun(state), payment),
    InvoiceBecameOverdue: (state) => ({ ...begun(state), isOverdue: true }),
    InvoiceReminded: (state, { number }) => ({ ...begun(state), reminders: number }),
    InvoiceVoided: (state) => ({ ...begun(state), status: 'void', isOverdue: false }),
    InvoiceMarkedUncollectible: (state) => ({ ...begun(state), status: 'uncollectible', isOverdue: false }),
  },
}

const outside: Payer = { type: 'outside', id: null }
const nothingYet = {
  number: null,
  amountPaid: 0,
  attempt: null,
  walletPayment: null,
  paidBy: [],
  returned: [],
  isOverdue: false,
  reminders: 0,
}

/** What was paid and taken back was asked for before. */
function isAnew({ reminders, returned }: ExistingInvoice): boolean {
  return reminders > 0 || returned.length > 0
}

interface Moving {
  readonly ended: string | null
  readonly now: Date
}

type Move = (current: ExistingInvoice, moving: Moving) => readonly Happening[]

/** Domain model 5.6: from which states an invoice is moved by hand. */
const moves: Readonly<Record<InvoiceCommands['MoveInvoice']['to'], Move>> = {
  open(current, { now }) {
    if (current.status !== 'draft') refuse('invoice_state_must_allow_it', { detail: why(current) })
    // A draft that has waited for too long is not overdue from the beginning.
    const dueDate = current.dueDate && [current.dueDate, today(current.timeZone, now)].toSorted().at(-1)!
    return [issued({ ...current, dueDate }, now)]
  },

  void(current, { ended }) {
    const isFrom = current.status === 'draft' || isPayable(current)
    if (!isFrom || current.amountPaid > 0) refuse('invoice_state_must_allow_it', { detail: why(current) })
    if (liveAttempt(current, ended)) refuse('resource_must_not_have_changed')
    mustNotBeTaking(current)
    return [{ type: 'InvoiceVoided', data: { subscription: current.subscription } }]
  },

  uncollectible(current) {
    if (current.status !== 'open') refuse('invoice_state_must_allow_it', { detail: why(current) })
    return [{ type: 'InvoiceMarkedUncollectible', data: { subscription: current.subscription } }]
  },

  paid(current, { ended }) {
    if (!isPayable(current)) refuse('invoice_state_must_allow_it', { detail: why(current) })
    if (liveAttempt(current, ended)) refuse('resource_must_not_have_changed')
    mustNotBeTaking(current)
    return [paid(current, amountLeft(current), outside)]
  },
}

function termsOf({ pages, metadata, ...given }: Given, id: string): InvoiceEvents['InvoiceDrafted'] {
  if (amountDue(given) > amountMinorMax)
    refuse('billing_terms_must_fit', { detail: 'The lines add up to more than can be counted' })
  const url = `${pages}/${tokenOf(id, given.secret)}`
  return { metadata: givenMetadata(metadata), url, ...given }
}

function issued(from: InvoiceEvents['InvoiceDrafted'], now: Date): Happening {
  const { customer, customerName, subscription, period, currency, description } = from
  const { lines, metadata, timeZone, url, secret } = from
  const dueDate = from.dueDate ?? usualDueDate(timeZone, now)
  const terms = { customer, customerName, subscription, period, currency, description, lines, metadata }
  return { type: 'InvoiceIssued', data: { timeZone, url, secret, dueDate, ...terms } }
}

function paid(current: ExistingInvoice, amount: number, by: Payer): Happening {
  const type = amount === amountLeft(current) ? 'InvoicePaid' : 'InvoicePartlyPaid'
  return { type, data: { amount, by, subscription: current.subscription } }
}

function withPaid(state: Invoice, amount: number, by: Payer): ExistingInvoice {
  const current = withoutOpenWalletPayment(begun(state))
  return { ...current, amountPaid: current.amountPaid + amount, paidBy: [...current.paidBy, by] }
}
