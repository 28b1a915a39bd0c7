import { derivedId } from '../../packages/contract/identity.ts'
import type { InvoiceEvents } from '../../packages/domain/invoices/events.ts'
import { invoice, type InvoiceCommands } from '../../packages/domain/invoices/invoice.ts'
import { tokenOf } from '../../packages/domain/invoices/token.ts'
import type { Message } from '../../packages/kernel/decider.ts'
import { context, scenarios } from '../support/scenarios.ts'

type Happening = Message<InvoiceEvents>

const customer = '0190a1b2-0000-7000-8000-0000000000c1'
const subscription = '0190a1b2-0000-7000-8000-0000000000b1'
const secret = '0190a1b2-0000-8000-8000-0000000000f1'
const [first, second] = [derivedId(context.id, 'payment 1'), derivedId(context.id, 'payment 2')]

const terms = {
  customer,
  customerName: null,
  subscription,
  period: { start: '2026-01-01T12:00:00.000Z', end: '2026-02-01T12:00:00.000Z' },
  currency: 'XOF',
  description: null,
  lines: [
    { description: 'Solar kit', quantity: 2, amount: 4_000 },
    { description: 'sms', quantity: 40, amount: 1_000 },
  ],
  metadata: {},
  timeZone: 'Africa/Lagos',
  secret,
}
const pages = 'https://pay.example/invoice'
const url = `${pages}/${tokenOf(context.id, secret)}`
const given: InvoiceCommands['CreateInvoice'] = { ...terms, pages, dueDate: null, isDraft: false }
const free = [{ description: 'Trial', quantity: 1, amount: 0 }]

const drafted: Happening = { type: 'InvoiceDrafted', data: { ...terms, url, dueDate: null } }
const issued: Happening = { type: 'InvoiceIssued', data: { ...terms, url, dueDate: '2026-01-31' } }
const numbered: Happening = { type: 'InvoiceNumbered', data: { number: 7 } }
const started = (paymentIntent: string, number: number, amount = 5_000): Happening => {
  return { type: 'InvoicePaymentStarted', data: { paymentIntent, number, amount } }
}
const failed: Happening = { type: 'InvoicePaymentFailed', data: { paymentIntent: first } }
const by = { type: 'payment_intent' as const, id: first }
const paid: Happening = { type: 'InvoicePaid', data: { amount: 5_000, by, subscription } }
const outside: Happening = {
  type: 'InvoicePaid',
  data: { amount: 5_000, by: { type: 'outside', id: null }, subscription },
}
const reminded = (next: string, number = 1): Happening => {
  return { type: 'InvoiceReminded', data: { number, isMailed: true, next } }
}
const voided: Happening = { type: 'InvoiceVoided', data: { subscription } }
const writtenOff: Happening = { type: 'InvoiceMarkedUncollectible', data: { subscription } }
const overdue: Happening = {
  type: 'InvoiceBecameOverdue',
  data: { subscription, unpaidAt: '2026-02-20T23:00:00.000Z', remindAt: '2026-02-03T08:00:00.000Z' },
}

const takenBack: Happening = {
  type: 'InvoicePaymentReturned',
  data: {
    paymentIntent: first,
    amount: 5_000,
    reopens: true,
    dueDate: '2026-01-31',
    timeZone: 'Africa/Lagos',
    next: null,
  },
}

const move = (to: InvoiceCommands['MoveInvoice']['to'], ended: string | null = null) =>
  ({ type: 'MoveInvoice', data: { to, ended } }) as const
const start = (ended: string | null = null) => ({ type: 'StartInvoicePayment', data: { ended } }) as const
const pay = (paymentIntent: string, amount = 5_000) =>
  ({ type: 'PayInvoice', data: { amount, paymentIntent } }) as const
const at = (time: string) => ({ now: new Date(time) })

scenarios(invoice, {
  'an invoice is due in thirty days of its merchant': {
    when: { type: 'CreateInvoice', data: given },
    then: [issued],
  },
  'late in the evening it is already tomorrow there': {
    when: { type: 'CreateInvoice', data: given },
    context: at('2026-01-01T23:30:00.000Z'),
    then: [{ type: 'InvoiceIssued', data: { ...issued.data, dueDate: '2026-02-01' } as never }],
  },
  'a draft waits to be issued': {
    when: { type: 'CreateInvoice', data: { ...given, isDraft: true } },
    then: [drafted],
  },
  'a draft is issued by hand': { given: [drafted], when: move('open'), then: [issued] },
  'a draft that is issued after its due day is due today': {
    given: [{ type: 'InvoiceDrafted', data: { ...drafted.data, dueDate: '2025-12-01' } as never }],
    when: move('open'),
    then: [{ type: 'InvoiceIssued', data: { ...issued.data, dueDate: '2026-01-01' } as never }],
  },
  'what is issued gets its number once': {
    given: [issued],
    when: { type: 'NumberInvoice', data: { number: 7 } },
    then: [numbered],
  },
  'what is paid before it has its number is not paid again': {
    given: [issued, outside],
    when: { type: 'NumberInvoice', data: { number: 7 } },
    then: [numbered],
  },
  'what costs nothing is paid as soon as it has its number': {
    given: [{ type: 'InvoiceIssued', data: { ...(issued.data as object), lines: free } as never }],
    when: { type: 'NumberInvoice', data: { number: 7 } },
    then: [
      numbered,
      { type: 'InvoicePaid', data: { amount: 0, by: { type: 'outside', id: null }, subscription } },
    ],
  },
  'lines that cannot be counted together are refused': {
    when: {
      type: 'CreateInvoice',
      data: {
        ...given,
        lines: Array.from({ length: 2 }, () => ({ description: null, quantity: 1, amount: 2 ** 53 - 1 })),
      },
    },
    then: 'billing_terms_must_fit',
  },
  'paying it is a try with an intent of its own': {
    given: [issued],
    when: start(),
    then: [started(first, 1)],
  },
  'whoever saw the try fail makes another one': {
    given: [issued, started(first, 1)],
    when: start(first),
    then: [started(second, 2)],
  },
  'after a failure everybody may': {
    given: [issued, started(first, 1), failed],
    when: start(),
    then: [started(second, 2)],
  },
  'whoever saw an older try end does not end the newer one': {
    given: [issued, started(first, 1), started(second, 2)],
    when: start(first),
    then: [],
  },
  'a draft cannot be paid': { given: [drafted], when: start(), then: 'invoice_state_must_allow_it' },
  'a paid one cannot be paid again': {
    given: [issued, started(first, 1), paid],
    when: start(),
    then: 'invoice_state_must_allow_it',
  },
  'what the operator has collected pays it': {
    given: [issued, started(first, 1)],
    when: pay(first),
    then: [paid],
  },
  'a part of it pays a part': {
    given: [issued, started(first, 1)],
    when: pay(first, 2_000),
    then: [{ type: 'InvoicePartlyPaid', data: { amount: 2_000, by, subscription } }],
  },
  'a failure of an older try is not that of the newer one': {
    given: [issued, started(first, 1), started(second, 2)],
    when: { type: 'RecordPaymentFailure', data: { paymentIntent: first } },
    then: [],
  },
  'a failed try is told': {
    given: [issued, started(first, 1)],
    when: { type: 'RecordPaymentFailure', data: { paymentIntent: first } },
    then: [failed],
  },
  'what was written off may still be paid': {
    given: [issued, writtenOff, started(first, 1)],
    when: pay(first),
    then: [paid],
  },
  'it is overdue when its due day has passed there': {
    given: [issued],
    when: { type: 'MarkOverdue', data: {} },
    context: at('2026-01-31T23:00:00.000Z'),
    then: [overdue],
  },
  'until then it is not': {
    given: [issued],
    when: { type: 'MarkOverdue', data: {} },
    context: at('2026-01-31T22:59:59.999Z'),
    then: [],
  },
  'taken back after its reminders would have been sent, it is overdue, and nobody is reminded': {
    given: [issued, paid, takenBack],
    when: { type: 'MarkOverdue', data: {} },
    context: at('2026-02-15T12:00:00.000Z'),
    then: [{ ...overdue, data: { ...overdue.data, remindAt: null } } as Happening],
  },
  'what is paid is never overdue': {
    given: [issued, started(first, 1), paid],
    when: { type: 'MarkOverdue', data: {} },
    context: at('2027-01-31T23:00:00.000Z'),
    then: [],
  },
  'whoever is late is reminded, and again some days later': {
    given: [issued, overdue],
    when: { type: 'NoteReminder', data: { number: 1, isMailed: true } },
    context: at('2026-02-03T08:00:00.000Z'),
    then: [reminded('2026-02-07T08:00:00.000Z')],
  },
  'what was missed is not made up in one go': {
    given: [issued, overdue],
    when: { type: 'NoteReminder', data: { number: 1, isMailed: true } },
    context: at('2026-02-10T12:00:00.000Z'),
    then: [reminded('2026-02-14T08:00:00.000Z')],
  },
  'the third reminder is the last one': {
    given: [issued, overdue, reminded('2026-02-14T08:00:00.000Z', 2)],
    when: { type: 'NoteReminder', data: { number: 3, isMailed: false } },
    context: at('2026-02-14T08:00:00.000Z'),
    then: [{ type: 'InvoiceReminded', data: { number: 3, isMailed: false, next: null } }],
  },
  'whoever has paid is not reminded': {
    given: [issued, started(first, 1), paid],
    when: { type: 'NoteReminder', data: { number: 1, isMailed: true } },
    then: [],
  },
  'paid elsewhere, it is paid': { given: [issued], when: move('paid'), then: [outside] },
  'while somebody is about to pay, it is not paid elsewhere': {
    given: [issued, started(first, 1)],
    when: move('paid'),
    then: 'resource_must_not_have_changed',
  },
  'once nobody can pay by that try any more, it is': {
    given: [issued, started(first, 1)],
    when: move('paid', first),
    then: [outside],
  },
  'a draft is voided': { given: [drafted], when: move('void'), then: [voided] },
  'an open one is voided': { given: [issued], when: move('void'), then: [voided] },
  'while somebody is about to pay, it is not voided': {
    given: [issued, started(first, 1)],
    when: move('void'),
    then: 'resource_must_not_have_changed',
  },
  'what is partly paid is not voided': {
    given: [
      issued,
      started(first, 1),
      { type: 'InvoicePartlyPaid', data: { amount: 2_000, by, subscription } },
    ],
    when: move('void', first),
    then: 'invoice_state_must_allow_it',
  },
  'an open one is written off': { given: [issued], when: move('uncollectible'), then: [writtenOff] },
  'a paid one is not written off': {
    given: [issued, outside],
    when: move('uncollectible'),
    then: 'invoice_state_must_allow_it',
  },
  'a void one is not issued again': {
    given: [issued, voided],
    when: move('open'),
    then: 'invoice_state_must_allow_it',
  },
})
