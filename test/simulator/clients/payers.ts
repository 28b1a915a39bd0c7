import { identity } from '../../../packages/contract/identity.ts'
import type { Caller } from '../../../packages/contract/access/callers.ts'
import { ask, type Asked } from './api.ts'
import { isForeseen } from '../engines/executor.ts'
import type { SimulatedProcess } from '../process.ts'
import type { Stage } from '../stage.ts'

interface Opened {
  readonly id: string
  readonly caller: Caller
}

interface Served {
  readonly stage: Stage
  anyApi(): SimulatedProcess
}

/** Ends of numbers that make the simulated operators behave in all of their ways. */
const digits = [
  '0000',
  '0001',
  '0001',
  '0001',
  '0002',
  '0003',
  '0004',
  '0005',
  '0006',
  '0007',
  '0008',
  '0009',
]

/** Strangers with links and sessions: they press twice, in several tabs, give up and try again. */
export class Payers {
  readonly #world: Served
  readonly #merchant: Caller
  readonly #links: Opened[] = []
  readonly #sessions: Opened[] = []

  constructor(world: Served, merchant: Caller) {
    this.#world = world
    this.#merchant = merchant
  }

  /** One thing that a payer does next, or a merchant for payers. */
  act(): void {
    const { random } = this.#world.stage.scheduler
    const act = random.pick([
      this.#press,
      this.#press,
      this.#press,
      this.#open,
      this.#open,
      this.#link,
      this.#leave,
    ])
    act.call(this)
  }

  #link(): void {
    const isSingleUse = this.#world.stage.scheduler.random.chance(0.7)
    const body = { amount: 1_000, currency: 'XOF', country: 'SN', isSingleUse }
    this.#ask({ operation: 'POST /api/v1/payment_links', params: {}, body }, this.#merchant, this.#links)
  }

  #open(): void {
    const { random } = this.#world.stage.scheduler
    const link = random.chance(0.8) ? this.#links.at(-1) : undefined
    const deferPaymentIntentCreation = random.chance(0.5)
    const body = link
      ? { paymentLinkId: link.id, deferPaymentIntentCreation }
      : { amount: 1_000, currency: 'XOF', country: 'SN', deferPaymentIntentCreation }
    this.#ask(
      { operation: 'POST /api/v1/checkout/sessions', params: {}, body },
      this.#merchant,
      this.#sessions,
    )
  }

  /** Once, or in several tabs at the same time. */
  #press(): void {
    const { random } = this.#world.stage.scheduler
    for (let times = random.pick([1, 1, 2, 3]); times > 0; times--) {
      const msisdn = `+22177000${random.pick(digits)}`
      const mobile_money = { country: 'SN', operator: random.pick(['orange_money', 'wave']), msisdn }
      const payment_method = { type: 'mobile_money', mobile_money }
      this.#onSession('POST /api/checkout/{sessionId}/pay', { payment_method })
    }
  }

  #leave(): void {
    const path = this.#world.stage.scheduler.random.pick(['cancel', 'retry'])
    this.#onSession(`POST /checkout/session/{sessionId}/${path}`, undefined)
  }

  /** Mostly one of the newest, so that there is something to compete for. */
  #onSession(operation: string, body: object | undefined): void {
    const newest = this.#sessions.slice(-3)
    const session = newest[this.#world.stage.scheduler.random.below(newest.length)]
    if (!session) return
    const { merchant, livemode } = session.caller
    const nobody: Caller = { credential: 'nobody', merchant, livemode, actor: 'public' }
    this.#ask({ operation, params: { sessionId: session.id }, body }, nobody)
  }

  #ask(asked: Pick<Asked, 'operation' | 'params' | 'body'>, caller: Caller, kept?: Opened[]): void {
    const { stage } = this.#world
    const process = this.#world.anyApi()
    const { life } = process
    stage.note(() => `a payer: ${asked.operation} ${JSON.stringify({ ...asked.params })} at ${process.name}`)
    ask(process.dependencies, { ...asked, caller, key: undefined }).then(
      (answer) => {
        const { id } = answer as { readonly id: string }
        if (life.alive) kept?.push({ id: identity(id, 'cs')!, caller })
      },
      (error: unknown) => {
        if (life.alive && !isForeseen(error))
          stage.violate(
            'R10',
            `a payer is answered 500: ${error instanceof Error ? error.stack : String(error)}`,
          )
      },
    )
  }
}
