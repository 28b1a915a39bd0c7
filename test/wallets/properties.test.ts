import t from 'tap'
import { derivedId } from '../../packages/contract/identity.ts'
import { Refusal } from '../../packages/contract/refusals.ts'
import { invoice, type InvoiceCommands } from '../../packages/domain/invoices/invoice.ts'
import { amountDue, type ExistingInvoice } from '../../packages/domain/invoices/state.ts'
import { account, bookId, classOf, type AccountCode } from '../../packages/domain/ledger/accounts.ts'
import { book } from '../../packages/domain/ledger/book.ts'
import { balanceOf, spendable, type Book } from '../../packages/domain/ledger/state.ts'
import { walletPolicies } from '../../packages/domain/wallets/policies.ts'
import {
  decide,
  evolve,
  type AnyDecider,
  type Cause,
  type Message,
  type Payloads,
} from '../../packages/kernel/decider.ts'
import type { RecordedEvent } from '../../packages/kernel/projection.ts'
import { fc } from '../support/properties.ts'
import { context, stampOf } from '../support/scenarios.ts'

const dayMs = 86_400_000
const customer = derivedId(context.merchant, 'customer')
const wallet = account('wallet', customer)
const inBook = bookId(context.merchant, context.livemode, 'XOF')
const invoiceIds = ['one', 'two'].map((name) => derivedId(context.merchant, name))

/** Streams and policies as they are, without a store: policies follow the log whenever the sequence says. */
class World {
  readonly #states = new Map<string, unknown>()
  readonly #log: RecordedEvent[] = []
  #followed = 0
  #now = context.now.getTime()

  stateOf<State>(decider: AnyDecider, id: string): State {
    return (this.#states.get(`${decider.category}-${id}`) ?? decider.initial()) as State
  }

  get now(): Date {
    return new Date(this.#now)
  }

  pass(days: number): void {
    this.#now += days * dayMs
  }

  /** False where it is refused. */
  send(decider: AnyDecider, id: string, command: Message<Payloads>, cause?: Cause): boolean {
    const stream = `${decider.category}-${id}`
    const at = { ...context, id, now: this.now, ...(cause && { cause }) }
    try {
      const events = decide(decider, command, this.stateOf(decider, id), at)
      for (const { type, data } of events) {
        const stamp = { ...stampOf(context), at: this.now.toISOString() }
        const event = structuredClone({ type, data })
        this.#states.set(stream, evolve(decider, this.stateOf(decider, id), event, stamp))
        const place = { stream, category: decider.category, id, position: this.#log.length, revision: 0 }
        const metadata = stamp as unknown as RecordedEvent['metadata']
        this.#log.push({ ...place, type, data: data as object, metadata, eventId: stream })
      }
      return true
    } catch (error) {
      if (error instanceof Refusal) return false
      throw error
    }
  }

  /** Follows so many events; a crash before the checkpoint lets it follow the last ones again. */
  follow(events: number, again = 0): void {
    this.#followed = Math.max(0, this.#followed - again)
    for (const event of this.#log.slice(this.#followed, this.#followed + events + again)) {
      this.#followed++
      for (const { name, on } of walletPolicies) {
        const orders = on[event.type]?.(event as never) ?? []
        for (const [nth, { decider, id, command }] of orders.entries()) {
          const cause = { policy: nth === 0 ? name : `${name}/${nth}`, position: event.position }
          if (!this.send(decider, id, command as Message<Payloads>, cause)) throw new Error('it is parked')
        }
      }
    }
  }

  get isDone(): boolean {
    return this.#followed === this.#log.length
  }

  count(template: string): number {
    const entries = this.#log.filter(({ data }) => 'template' in data && data.template === template)
    return entries.filter(({ type }) => type === 'EntryPosted').length
  }
}

const given: InvoiceCommands['CreateInvoice'] = {
  customer,
  customerName: null,
  subscription: null,
  period: null,
  currency: 'XOF',
  description: null,
  lines: [
    { description: 'Kit', quantity: 2, amount: 700 },
    { description: 'sms', quantity: 30, amount: 300 },
  ],
  metadata: {},
  timeZone: 'UTC',
  pages: 'https://pay.example/invoice',
  secret: '0190a1b2-0000-8000-8000-0000000000f1',
  dueDate: null,
  isDraft: false,
}

const which = fc.nat({ max: 1 })
const amount = fc.integer({ min: 1, max: 1_200 })
const step = fc.oneof(
  fc.record({ kind: fc.constant('topup' as const), amount, byCard: fc.boolean() }),
  fc.record({ kind: fc.constant('apply' as const), which, amount, sees: fc.boolean() }),
  fc.record({ kind: fc.constant('follow' as const), events: fc.nat({ max: 4 }), again: fc.nat({ max: 3 }) }),
  fc.record({ kind: fc.constant('intent' as const), which }),
  fc.record({ kind: fc.constantFrom('pay' as const, 'fail' as const), which }),
  fc.record({
    kind: fc.constant('move' as const),
    which,
    to: fc.constantFrom('void', 'uncollectible', 'paid'),
  }),
  fc.record({ kind: fc.constant('refund' as const), amount, topup: fc.nat({ max: 5 }) }),
  fc.record({ kind: fc.constant('days' as const), count: fc.integer({ min: 1, max: 3 }) }),
)
type Step = typeof step extends fc.Arbitrary<infer One> ? One : never

function take(world: World, one: Step, number: number): void {
  const invoiceId = 'which' in one ? invoiceIds[one.which]! : ''
  const current = () => world.stateOf<ExistingInvoice>(invoice, invoiceId)
  const live = () => (current().attempt?.isFailed === false ? current().attempt! : null)
  if (one.kind === 'follow') world.follow(one.events, one.again)
  if (one.kind === 'days') world.pass(one.count)
  if (one.kind === 'topup') {
    const subject = { type: 'payment', id: derivedId(customer, `payment ${number}`) }
    const availableAt = one.byCard ? new Date(world.now.getTime() + 2 * dayMs).toISOString() : undefined
    const credits = [{ account: wallet, amount: one.amount }]
    const paid = { rail: 'card', amount: one.amount, fee: 0, credits, ...(availableAt && { availableAt }) }
    const data = { template: 'wallet.topup', subject, ...paid }
    world.send(book, inBook, { type: 'PostEntry', data })
  }
  if (one.kind === 'refund') {
    const id = derivedId(customer, `refund ${number}`)
    const part = { id: wallet, source: wallet, amount: one.amount, fee: 0, feeAccount: null, rail: 'card' }
    const payment = derivedId(customer, `payment ${one.topup}`)
    const hold = { template: 'refund.hold', subject: { type: 'refund', id }, owner: `refund-${id}`, payment }
    world.send(book, inBook, { type: 'PlaceHold', data: { ...hold, parts: [part] } })
  }
  if (one.kind === 'apply') {
    const terms = { customer, amount: one.amount, fee: Math.floor(one.amount / 100), description: null }
    const application = derivedId(invoiceId, `application ${number}`)
    world.send(invoice, invoiceId, {
      type: 'StartWalletPayment',
      data: { ...terms, application, ended: null },
    })
  }
  if (one.kind === 'intent')
    world.send(invoice, invoiceId, { type: 'StartInvoicePayment', data: { ended: null } })
  if (one.kind === 'fail' && live()) {
    const { paymentIntent } = live()!
    world.send(invoice, invoiceId, { type: 'RecordPaymentFailure', data: { paymentIntent } })
  }
  if (one.kind === 'pay' && live() && !current().paidBy.some(({ id }) => id === live()!.paymentIntent)) {
    const { paymentIntent, amount: whole } = live()!
    world.send(invoice, invoiceId, { type: 'PayInvoice', data: { amount: whole, paymentIntent } })
  }
  if (one.kind === 'move')
    world.send(invoice, invoiceId, { type: 'MoveInvoice', data: { to: one.to, ended: null } })
}

/** What is wrong, if anything. */
function faultOf(world: World): string | undefined {
  const state = world.stateOf<Book>(book, inBook)
  if (balanceOf(state, wallet) < 0) return 'the wallet is below zero'
  if (spendable(state, wallet, world.now) > balanceOf(state, wallet)) return 'more is spent than is there'
  const sums = { asset: 0, liability: 0, revenue: 0 }
  for (const [code, balance] of Object.entries(state.balances)) sums[classOf(code as AccountCode)] += balance
  if (sums.asset !== sums.liability + sums.revenue) return 'money was lost or made'
  for (const id of invoiceIds) {
    const { amountPaid, attempt, walletPayment, paidBy, ...terms } = world.stateOf<ExistingInvoice>(
      invoice,
      id,
    )
    if (amountPaid > amountDue(terms)) return 'more is paid than is due'
    if (terms.status === 'void' && amountPaid > 0) return 'what is paid is void'
    const isLive = attempt && !attempt.isFailed && !paidBy.some((by) => by.id === attempt.paymentIntent)
    if (isLive && walletPayment?.isOpen) return 'two can pay it at once'
    if (amountDue(terms) !== 1_000) return 'the lines are not the sum'
  }
  return undefined
}

t.test(
  'however billing and wallets are used, and whenever policies follow, the books are right',
  async (t) => {
    const property = fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const world = new World()
      for (const id of invoiceIds) world.send(invoice, id, { type: 'CreateInvoice', data: given })
      for (const [number, one] of steps.entries()) {
        take(world, one, number)
        const fault = faultOf(world)
        if (fault) throw new Error(fault)
      }
      while (!world.isDone) world.follow(1, 0)
      world.follow(0, 1_000)
      while (!world.isDone) world.follow(1, 0)
      const fault = faultOf(world)
      if (fault) throw new Error(fault)
      const states = invoiceIds.map((id) => world.stateOf<ExistingInvoice>(invoice, id))
      const paid = states.flatMap(({ paidBy }) => paidBy).filter(({ type }) => type === 'wallet')
      if (paid.length !== world.count('wallet.apply')) throw new Error('an application is not one entry')
      if (states.some(({ walletPayment }) => walletPayment?.isOpen))
        throw new Error('an invoice waits for ever')
    })
    fc.assert(property, { numRuns: 500 })
    t.pass()
  },
)

t.test('card money is refunded before it may be spent, and spent when it may be', async (t) => {
  const world = new World()
  const byCard = { kind: 'topup', amount: 500, byCard: true } as const
  take(world, byCard, 0)
  take(world, { kind: 'topup', amount: 100, byCard: false }, 1)
  const can = () => spendable(world.stateOf<Book>(book, inBook), wallet, world.now)
  t.equal(can(), 100)
  take(world, { kind: 'refund', amount: 200, topup: 0 }, 2)
  t.equal(can(), 100, 'the refund takes what is young')
  const holdId = derivedId(customer, 'refund 2')
  world.send(book, inBook, { type: 'VoidHold', data: { holdId } })
  t.equal(can(), 100, 'and gives it back as such')
  world.pass(2)
  t.equal(can(), 600)
})
