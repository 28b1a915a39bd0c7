import { invoice, type InvoiceCommands } from '../../packages/domain/invoices/invoice.ts'
import type { InvoiceEvents } from '../../packages/domain/invoices/events.ts'
import type { Message } from '../../packages/kernel/decider.ts'
import { scenarios } from '../support/scenarios.ts'

type Happening = Message<InvoiceEvents>

const [first, second] = ['0190a1b2-0000-7000-8000-0000000000b1', '0190a1b2-0000-7000-8000-0000000000b2']
const subscription = null
const terms = {
  customer: null,
  customerName: null,
  subscription,
  period: null,
  currency: 'XOF',
  description: null,
  lines: [{ description: 'Kit', quantity: 1, amount: 5_000 }],
  metadata: {},
  timeZone: 'UTC',
  secret: '0190a1b2-0000-8000-8000-0000000000f1',
  url: 'https://pay.example/invoice',
}
const issued: Happening = { type: 'InvoiceIssued', data: { ...terms, dueDate: '2026-01-31' } }
const by = (id: string) => ({ type: 'payment_intent', id }) as const
const part: Happening = { type: 'InvoicePartlyPaid', data: { amount: 2_000, by: by(first), subscription } }
const rest: Happening = { type: 'InvoicePaid', data: { amount: 3_000, by: by(second), subscription } }
const day = { dueDate: '2026-01-31', timeZone: 'UTC' }
const back = (paymentIntent: string, amount: number, reopens: boolean): Happening => {
  const next = reopens ? '2026-02-03T09:00:00.000Z' : null
  return { type: 'InvoicePaymentReturned', data: { paymentIntent, amount, reopens, ...day, next } }
}
const giveBack = (paymentIntent: string, amount: number): Message<InvoiceCommands> => {
  return { type: 'ReturnPayment', data: { paymentIntent, amount } }
}

const start = () => ({ type: 'StartInvoicePayment', data: { ended: null } }) as const
const move = (to: InvoiceCommands['MoveInvoice']['to']) =>
  ({ type: 'MoveInvoice', data: { to, ended: null } }) as const
const started = (paymentIntent: string, number: number): Happening => {
  return { type: 'InvoicePaymentStarted', data: { paymentIntent, number, amount: 5_000 } }
}
const outside: Happening = {
  type: 'InvoicePaid',
  data: { amount: 5_000, by: { type: 'outside', id: null }, subscription },
}
const writtenOff: Happening = { type: 'InvoiceMarkedUncollectible', data: { subscription } }
const customer = '0190a1b2-0000-7000-8000-0000000000c1'
const wallet = { type: 'wallet' as const, id: first }
const taken = (amount: number, application = first) => {
  return { application, customer, amount, fee: 10, description: null }
}
const byWallet = (amount: number, application = first, ended: string | null = null) =>
  ({ type: 'StartWalletPayment', data: { ...taken(amount, application), ended } }) as const
const walletStarted = (amount: number): Happening => {
  const data = { ...taken(amount), currency: 'XOF', isWhole: amount === 5_000 }
  return { type: 'InvoiceWalletPaymentStarted', data }
}

scenarios(invoice, {
  'what is taken back opens a paid invoice again, and its reminders go on': {
    given: [issued, part, rest],
    when: giveBack(second, 3_000),
    then: [back(second, 3_000, true)],
  },
  'what is taken back of an open invoice is to be paid again': {
    given: [issued, part],
    when: giveBack(first, 2_000),
    then: [back(first, 2_000, false)],
  },
  'what was never counted is not taken back': {
    given: [issued, part],
    when: giveBack(second, 3_000),
    then: [],
  },
  'what was taken back does not pay it when it is told again': {
    given: [issued, part, back(first, 2_000, false)],
    when: { type: 'PayInvoice', data: { amount: 2_000, paymentIntent: first } },
    then: [],
  },
  'what is open again is void when nothing of it is paid': {
    given: [issued, part, back(first, 2_000, false)],
    when: { type: 'MoveInvoice', data: { to: 'void', ended: null } },
    then: [{ type: 'InvoiceVoided', data: { subscription } }],
  },
  'a wallet pays a part, and the invoice waits for the book': {
    given: [issued],
    when: byWallet(2_000),
    then: [walletStarted(2_000)],
  },
  'while the book has not answered, no intent is made': {
    given: [issued, walletStarted(2_000)],
    when: start(),
    then: 'resource_must_not_have_changed',
  },
  'nor does another wallet payment begin': {
    given: [issued, walletStarted(2_000)],
    when: byWallet(1_000, second),
    then: 'resource_must_not_have_changed',
  },
  'nor is it settled by hand': {
    given: [issued, walletStarted(2_000)],
    when: move('paid'),
    then: 'resource_must_not_have_changed',
  },
  'the book has taken the money': {
    given: [issued, walletStarted(5_000)],
    when: { type: 'SettleWalletPayment', data: { application: first } },
    then: [{ type: 'InvoicePaid', data: { amount: 5_000, by: wallet, subscription } }],
  },
  'the book has taken the money after the invoice was written off': {
    given: [issued, walletStarted(2_000), writtenOff],
    when: { type: 'SettleWalletPayment', data: { application: first } },
    then: [{ type: 'InvoicePartlyPaid', data: { amount: 2_000, by: wallet, subscription } }],
  },
  'the book has refused it, and it can be paid again': {
    given: [issued, walletStarted(2_000)],
    when: { type: 'FailWalletPayment', data: { application: first } },
    then: [{ type: 'InvoiceWalletPaymentFailed', data: { application: first } }],
  },
  'a wallet does not overtake an intent that may be paid': {
    given: [issued, started(first, 1)],
    when: byWallet(2_000, second),
    then: 'resource_must_not_have_changed',
  },
  'a wallet does not pay more than what is left': {
    given: [issued],
    when: byWallet(5_001),
    then: 'resource_must_not_have_changed',
  },
  'what is paid is not paid by wallet': {
    given: [issued, outside],
    when: byWallet(1),
    then: 'invoice_state_must_allow_it',
  },
})
