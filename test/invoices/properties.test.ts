import t from 'tap'
import { Refusal } from '../../packages/contract/refusals.ts'
import { derivedId } from '../../packages/contract/identity.ts'
import { invoice, type InvoiceCommands } from '../../packages/domain/invoices/invoice.ts'
import { amountDue, amountLeft, type Invoice } from '../../packages/domain/invoices/state.ts'
import type { Bill } from '../../packages/domain/subscriptions/events.ts'
import { subscription, type SubscriptionCommands } from '../../packages/domain/subscriptions/subscription.ts'
import type { Subscription } from '../../packages/domain/subscriptions/state.ts'
import { decide, evolve, type Message } from '../../packages/kernel/decider.ts'
import { fc } from '../support/properties.ts'
import { context, stampOf } from '../support/scenarios.ts'

const runs = { numRuns: 300 }
const dayMs = 86_400_000

const given: InvoiceCommands['CreateInvoice'] = {
  customer: null,
  customerName: null,
  subscription: null,
  period: null,
  currency: 'XOF',
  description: null,
  lines: [{ description: null, quantity: 1, amount: 1_000 }],
  metadata: {},
  timeZone: 'UTC',
  pages: 'https://pay.example/invoice',
  secret: '0190a1b2-0000-8000-8000-0000000000f1',
  dueDate: null,
  isDraft: false,
}

/** What may happen to an invoice, in any order; numbers choose among the tries there have been. */
const happening = fc.oneof(
  fc.record({ kind: fc.constant('start' as const), sees: fc.boolean() }),
  fc.record({ kind: fc.constantFrom('paid' as const, 'failed' as const), part: fc.boolean() }),
  fc.record({
    kind: fc.constant('move' as const),
    to: fc.constantFrom('open' as const, 'void' as const, 'uncollectible' as const, 'paid' as const),
    sees: fc.boolean(),
  }),
  fc.record({
    kind: fc.constantFrom('overdue' as const, 'reminder' as const, 'number' as const, 'return' as const),
  }),
)

type Ending = 'live' | 'ended' | 'paid'

t.test('an invoice is never paid beyond what is due, and has one try that can be paid', async (t) => {
  fc.assert(
    fc.property(fc.array(happening, { maxLength: 30 }), (happenings) => {
      let state: Invoice = invoice.initial()
      /** How each try stands at the operators, who know nothing of the invoice. */
      const tries = new Map<string, Ending>()
      let collected = 0
      /** How often it was told that it is paid, since it was last to be paid. */
      let told = 0
      const send = (command: Message<InvoiceCommands>): boolean => {
        try {
          const now = new Date(context.now.getTime() + 90 * dayMs)
          for (const event of decide(invoice, command, state, { ...context, now })) {
            if (event.type === 'InvoicePaymentStarted') tries.set(event.data.paymentIntent, 'live')
            if (event.type === 'InvoicePaid') told++
            if (event.type === 'InvoicePaymentReturned' && event.data.reopens) told = 0
            state = evolve(invoice, state, event, stampOf(context))
          }
          return true
        } catch (error) {
          if (error instanceof Refusal) return false
          throw error
        }
      }
      const newest = () => [...tries.keys()].at(-1) ?? null
      /** As actions do: what can no longer be paid is made so before it is told. */
      const ended = (sees: boolean): string | null => {
        const id = newest()
        if (id === null || tries.get(id) === 'paid') return null
        if (sees) tries.set(id, 'ended')
        return tries.get(id) === 'ended' ? id : null
      }
      send({ type: 'CreateInvoice', data: given })
      for (const one of happenings) {
        const id = newest()
        if (one.kind === 'start') send({ type: 'StartInvoicePayment', data: { ended: ended(one.sees) } })
        else if (one.kind === 'move')
          send({ type: 'MoveInvoice', data: { to: one.to, ended: ended(one.sees) } })
        else if (one.kind === 'overdue') send({ type: 'MarkOverdue', data: {} })
        else if (one.kind === 'reminder') send({ type: 'NoteReminder', data: { number: 1, isMailed: true } })
        else if (one.kind === 'number') send({ type: 'NumberInvoice', data: { number: 7 } })
        else if (one.kind === 'return') {
          const paid = [...tries.keys()].find((tried) => tries.get(tried) === 'paid')
          if (paid === undefined) continue
          tries.set(paid, 'ended')
          collected -= 1_000
          send({ type: 'ReturnPayment', data: { amount: 1_000, paymentIntent: paid } })
          send({ type: 'ReturnPayment', data: { amount: 1_000, paymentIntent: paid } })
        } else if (id !== null && tries.get(id) === 'live') {
          const amount = state.status === 'none' ? 0 : (state.attempt?.amount ?? 0)
          if (one.kind === 'failed') tries.set(id, 'ended')
          else tries.set(id, 'paid')
          if (one.kind === 'failed') send({ type: 'RecordPaymentFailure', data: { paymentIntent: id } })
          else {
            collected += amount
            send({ type: 'PayInvoice', data: { amount, paymentIntent: id } })
            send({ type: 'PayInvoice', data: { amount, paymentIntent: id } })
          }
        }
        if (state.status === 'none') return false
        const live = [...tries.values()].filter((ending) => ending === 'live').length
        const isRight =
          state.amountPaid >= collected &&
          amountLeft(state) >= 0 &&
          state.amountPaid <= amountDue(state) &&
          live <= 1 &&
          told <= 1 &&
          (state.status !== 'paid' || amountLeft(state) === 0) &&
          (state.status !== 'void' || state.amountPaid === 0)
        if (!isRight) return false
      }
      return true
    }),
    runs,
  )
  t.pass()
})

const start: SubscriptionCommands['StartSubscription'] = {
  customer: derivedId(context.merchant, 'customer'),
  currency: 'XOF',
  items: [
    {
      plan: derivedId(context.merchant, 'plan'),
      name: 'Kit',
      quantity: 2,
      unitAmount: 5_000,
      meters: { sms: 25 },
    },
  ],
  timing: {
    start: context.now.toISOString(),
    end: null,
    trialDays: null,
    interval: 'month',
    timeZone: 'UTC',
  },
  cancelAtPeriodEnd: false,
  metadata: {},
  invoicing: { pages: 'https://pay.example/invoice', seed: '0190a1b2-0000-8000-8000-0000000000f1' },
}

const passing = fc.oneof(
  fc.record({ kind: fc.constant('days' as const), count: fc.integer({ min: 1, max: 70 }) }),
  fc.record({ kind: fc.constant('renew' as const), number: fc.nat({ max: 14 }), used: fc.nat({ max: 9 }) }),
  fc.record({ kind: fc.constantFrom('overdue' as const, 'settled' as const), invoice: fc.nat({ max: 3 }) }),
  fc.record({ kind: fc.constant('unpaid' as const) }),
  fc.record({ kind: fc.constant('cancel' as const), atPeriodEnd: fc.boolean() }),
)

t.test('a subscription has at most one invoice for each period, and periods never overlap', async (t) => {
  fc.assert(
    fc.property(fc.array(passing, { maxLength: 40 }), fc.boolean(), (steps, isTrial) => {
      let state: Subscription = subscription.initial()
      let now = context.now
      const bills: Bill[] = []
      const send = (command: Message<SubscriptionCommands>) => {
        try {
          for (const event of decide(subscription, command, state, { ...context, now })) {
            const bill = 'bill' in event.data ? event.data.bill : null
            if (bill) bills.push(bill)
            state = evolve(subscription, state, event, { ...stampOf(context), at: now.toISOString() })
          }
        } catch (error) {
          if (!(error instanceof Refusal)) throw error
        }
      }
      const timing = { ...start.timing, trialDays: isTrial ? 14 : null }
      send({ type: 'StartSubscription', data: { ...start, timing } })
      const invoiceOf = (number: number) => derivedId(context.id, `invoice ${number}`)
      for (const step of steps) {
        if (step.kind === 'days') now = new Date(now.getTime() + step.count * dayMs)
        if (step.kind === 'renew')
          send({ type: 'RenewSubscription', data: { number: step.number, usage: { sms: step.used } } })
        if (step.kind === 'overdue') {
          const unpaidAt = new Date(now.getTime() + 20 * dayMs).toISOString()
          send({ type: 'MarkPastDue', data: { invoice: invoiceOf(step.invoice), unpaidAt } })
        }
        if (step.kind === 'settled')
          send({ type: 'SettleArrears', data: { invoice: invoiceOf(step.invoice) } })
        if (step.kind === 'unpaid') send({ type: 'MarkUnpaid', data: {} })
        if (step.kind === 'cancel') {
          const { atPeriodEnd } = step
          send({
            type: 'CancelSubscription',
            data: { atPeriodEnd, reason: null, usage: { sms: 1 }, number: null },
          })
        }
      }
      const numbers = bills.map(({ number }) => number)
      const renewed = bills.filter(({ lines }) => lines.some(({ description }) => description === 'Kit'))
      const areApart = renewed.every(({ start, end }, index) => {
        return start < end && (index === 0 || start >= renewed[index - 1]!.end)
      })
      const areSums = bills.every(({ lines }) => {
        return lines.every(({ description, quantity, amount }) =>
          description === 'Kit' ? amount === 10_000 : amount === 25 * quantity,
        )
      })
      return new Set(numbers).size === numbers.length && areApart && areSums
    }),
    runs,
  )
  t.pass()
})
