import t from 'tap'
import { derivedId, identity } from '../../packages/contract/identity.ts'
import { checkoutSession } from '../../packages/domain/checkout/checkout-session.ts'
import { paymentIntent } from '../../packages/domain/payment-intents/payment-intent.ts'
import { paymentLink } from '../../packages/domain/payment-links/payment-link.ts'
import type { PaymentIntent } from '../../packages/domain/payment-intents/state.ts'
import type { OperationRow } from '../../packages/domain/payment-intents/operation.ts'
import { equal } from '../../packages/kernel/ports/reads.ts'
import { operations } from '../../projections/operations.ts'
import { findEntry } from '../../services/composition/books/journal-entries.ts'
import { readState } from '../../packages/kernel/history.ts'
import type { RailState } from '../../packages/kernel/ports/rails.ts'
import { testConservation } from '../support/commerce/billing-laws.ts'
import { byPhone, openSession, waiting } from '../support/commerce/checkout.ts'
import { eventually } from '../support/eventually.ts'
import { fc } from '../support/properties.ts'
import { ScriptedRail } from '../support/payments/scripted-rail.ts'
import { startService, type TestService } from '../support/service.ts'

const provider = new ScriptedRail()
let service: TestService

t.before(async () => {
  service = await startService(t, {}, { rails: [{ environments: ['sandbox'], rail: provider }] })
})

const runs = 16
const stepsMost = 14
const sessions = 4

/** What payers, the merchant and the operator do, in any order; `also` happens at the same time. */
const step = fc.record({
  act: fc.constantFrom(
    'press',
    'press',
    'press',
    'give up',
    'look elsewhere',
    'confirm',
    'say',
    'say',
    'say',
    'close',
  ),
  session: fc.nat(sessions - 1),
  operator: fc.constantFrom('orange_money', 'mtn'),
  said: fc.constantFrom<RailState['state'][]>('succeeded', 'failed', 'returned'),
  /** Of what was asked, counted from the newest. */
  heard: fc.nat(2),
  also: fc.option(fc.nat(sessions - 1)),
})

type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never

const words: Readonly<Record<string, RailState>> = {
  succeeded: { state: 'succeeded' },
  failed: { state: 'failed', code: 'payer_declined', message: 'no' },
  returned: { state: 'returned' },
}

/** A link for one payment with some sessions, and a session without a link. */
class World {
  readonly link: string
  readonly ids: readonly string[]
  readonly #first: number

  constructor(link: string, ids: readonly string[]) {
    this.link = link
    this.ids = ids
    this.#first = provider.requests.length
  }

  static async begin(): Promise<World> {
    const order = { amount: 5_000, currency: 'XOF', country: 'CI', isSingleUse: true }
    const { body } = await service.post('/api/v1/payment_links', order)
    const link = String(body['id'])
    const ids: string[] = []
    for (let nth = 1; nth < sessions; nth++)
      ids.push((await openSession(service, { paymentLinkId: link })).id)
    return new World(link, [...ids, (await openSession(service)).id])
  }

  async take({ act, session, operator, said, heard, also }: Step): Promise<void> {
    const id = this.ids[session]!
    if (act === 'say') return this.#say(words[said]!, heard)
    if (act === 'close') return void (await service.post(`/api/v1/payment_links/${this.link}/deactivate`))
    if (act === 'confirm') return this.#confirm(id)
    if (act !== 'press') {
      const path = act === 'give up' ? 'cancel' : 'retry'
      return void (await service.post(`/checkout/session/${id}/${path}`, undefined, { key: '' }))
    }
    const pressed = [id, ...(also === null ? [] : [this.ids[also]!])]
    const wish = byPhone({ ...waiting, operator })
    const answers = await Promise.all(
      pressed.map((one) => service.post(`/api/checkout/${one}/pay`, wish, { key: '' })),
    )
    for (const { status, body } of answers) if (status >= 500) throw new Error(JSON.stringify(body))
  }

  async #confirm(id: string): Promise<void> {
    const { body } = await service.get(`/api/v1/checkout/sessions/${id}`)
    if (typeof body['payment_intent'] !== 'string') return
    await service.post(`/api/v1/payment-intents/${body['payment_intent']}/confirm`, byPhone())
  }

  /** The operator may say anything at any time of what it was asked, but takes back only what was paid. */
  async #say(word: RailState, heard: number): Promise<void> {
    const asked = provider.requests.slice(this.#first).filter(({ kind }) => kind === 'collection')
    const request = asked.at(-1 - heard)
    if (!request) return
    const { state } = await provider.status(request.reference)
    const isTakenBack = word.state === 'returned'
    if (state !== 'pending' && isTakenBack !== (state === 'succeeded')) return
    if (isTakenBack && state === 'pending') await provider.say(request.reference, { state: 'succeeded' })
    if (isTakenBack) await this.#booked(request.reference)
    await provider.say(request.reference, word)
  }

  /** What is not in the book cannot be taken out of it: people would decide. */
  async #booked(operationId: string): Promise<void> {
    const { dependencies } = service.service.runtime
    const { reads, store } = dependencies
    await reads.reached(await store.head(), 10_000)
    const query = { from: operations.name, where: equal({ id: operationId }), order: 'id', limit: 1 }
    const [operation] = (await reads.page<OperationRow>(query)).rows
    const ofPayment = { column: 'subject', operator: '=', value: operation!.resource } as const
    await eventually(
      () => findEntry(dependencies, [ofPayment]),
      (entry) => entry !== undefined,
      20_000,
    )
  }

  async intentsOf(id: string): Promise<readonly PaymentIntent[]> {
    const { store } = service.service.runtime.dependencies
    const session = await readState(store, checkoutSession, identity(id, 'cs')!)
    const count = session.status === 'none' ? 0 : (session.attempt?.number ?? 0)
    const named = Array.from({ length: count }, (_, index) =>
      derivedId(identity(id, 'cs')!, `payment ${index + 1}`),
    )
    return Promise.all(named.map((intent) => readState(store, paymentIntent, intent)))
  }

  /** What must be true at any time. */
  async check(): Promise<void> {
    const all = await Promise.all(this.ids.map((id) => this.intentsOf(id)))
    for (const [index, intents] of all.entries()) {
      const open = intents.filter(({ status }) => status !== 'failed' && status !== 'canceled')
      if (open.length > 1) throw new Error(`session ${index} has ${open.map(({ status }) => status).join()}`)
    }
    const ofLink = all.slice(0, -1).flat()
    const alive = ofLink.filter((intent) => isAlive(intent))
    if (alive.length > 1) throw new Error(`the link has ${alive.map(({ status }) => status).join()}`)
  }

  /** What becomes true when everybody has heard of everything: also what was said last. */
  async checkEnd(): Promise<void> {
    const { store } = service.service.runtime.dependencies
    await eventually(
      async () => ({ link: await readState(store, paymentLink, this.link), paid: await this.#paid() }),
      ({ link, paid }) => link.status !== 'none' && link.uses === sum(paid.slice(0, -1)),
      20_000,
    )
    for (const [index, id] of this.ids.entries())
      await eventually(
        async () => ({
          session: await readState(store, checkoutSession, identity(id, 'cs')!),
          paid: (await this.#paid())[index],
        }),
        ({ session, paid }) => session.status !== 'none' && (session.paidBy !== null) === (paid === 1),
        20_000,
      )
  }

  /** How many intents of each session are paid. */
  #paid(): Promise<readonly number[]> {
    return Promise.all(this.ids.map(async (id) => (await this.intentsOf(id)).filter(isPaid).length))
  }
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0)
}

function isPaid({ status }: PaymentIntent): boolean {
  return status === 'succeeded'
}

/** It was paid, or may be. */
function isAlive(intent: PaymentIntent): boolean {
  const { status } = intent
  return status === 'succeeded' || status === 'processing' || status === 'requires_action' || isBegun(intent)
}

function isBegun(intent: PaymentIntent): boolean {
  return intent.status === 'requires_payment_method' && intent.locked
}

t.test(
  'whatever is pressed and said in any order, a session is paid once, and so is a link for one',
  async (t) => {
    const property = fc.asyncProperty(
      fc.array(step, { minLength: 3, maxLength: stepsMost }),
      async (steps) => {
        const world = await World.begin()
        for (const one of steps) {
          await world.take(one)
          await world.check()
        }
        await world.checkEnd()
      },
    )
    await fc.assert(property, { numRuns: runs, endOnFailure: true })
    t.ok(provider.requests.length > runs, `${provider.requests.length} payments were begun`)
  },
)

testConservation(() => service)
