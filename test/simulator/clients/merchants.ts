import { isDeepStrictEqual } from 'node:util'
import { identity } from '../../../packages/contract/identity.ts'
import type { Caller } from '../../../packages/contract/access/callers.ts'
import { payout } from '../../../packages/domain/payouts/payout.ts'
import { ask, type Asked } from './api.ts'
import { isForeseen } from '../engines/executor.ts'
import type { SimulatedProcess } from '../process.ts'

/** A request that may be sent again, and what it was answered. */
interface Sent extends Asked {
  answer: Record<string, unknown> | undefined
}

interface Owned {
  readonly id: string
  readonly caller: Caller
}

const key = { credential: 'api_key', scopes: ['*'] } as const

type Served = Pick<SimulatedProcess['world'], 'stage'> & { anyApi(): SimulatedProcess }

export const callers: readonly Caller[] = [
  { ...key, merchant: '00000000-0000-7000-8000-00000000000a', livemode: false, actor: 'key:a' },
  { ...key, merchant: '00000000-0000-7000-8000-00000000000a', livemode: true, actor: 'key:b' },
  { ...key, merchant: '00000000-0000-7000-8000-00000000000b', livemode: false, actor: 'key:c' },
]

/** Ends of numbers, and cards, that make the simulated operators behave in all of their ways. */
const digits = ['0000', '0001', '0001', '0002', '0003', '0004', '0005', '0006', '0007', '0008', '0009']
const cards = ['tok_new', 'tok_ok', 'tok_declined', 'tok_3ds']
const retriesAfter = [
  'POST /api/v1/payouts',
  'POST /api/v1/payment-intents',
  'POST /api/v1/merchant/payments/{id}/refund',
]

/**
 * The clients: they ask for what merchants ask for, twice when they hear nothing, and from several places at
 * once.
 */
export class Merchants {
  readonly #world: Served
  readonly #sent: Sent[] = []
  readonly #payouts: Owned[] = []
  readonly #intents: Owned[] = []
  #keys = 0

  constructor(world: Served) {
    this.#world = world
  }

  /** One thing that a merchant does next. */
  act(): void {
    const act = this.#random.pick(acts)
    act(this)
  }

  get #random() {
    return this.#world.stage.scheduler.random
  }

  topUp(): void {
    const body = { amount: 5_000 + this.#random.below(40_000), currency: 'XOF' }
    this.#begin({
      operation: 'POST /api/test/balance/topup',
      caller: this.#sandboxCaller(),
      key: this.#newKey(),
      params: {},
      body,
    })
  }

  pay(): void {
    const destination = this.#random.chance(0.15)
      ? {
          type: 'bank',
          bank_code: 'SN010',
          account_number: `00123${this.#random.pick(digits)}`,
          account_name: 'A',
        }
      : {
          type: 'mobile_money',
          country: 'SN',
          operator: 'orange_money',
          msisdn: `+22177000${this.#random.pick(digits)}`,
        }
    const body = { amount: 500 + this.#random.below(8_000), currency: 'XOF', destination }
    this.#begin({
      operation: 'POST /api/v1/payouts',
      caller: this.#anyCaller(),
      key: this.#newKey(),
      params: {},
      body,
    })
  }

  /** Support cancels a payout; there is no operation for it. */
  cancelPayout(): void {
    const owned = this.#one(this.#payouts)
    if (!owned) return this.pay()
    const process = this.#world.anyApi()
    const { caller, id } = owned
    this.#note(`cancels payout ${id} at ${process.name}`)
    const envelope = { ...caller, correlation: this.#world.stage.newId(), mustExist: true }
    const command = { type: 'CancelPayout', data: { reason: 'compliance' } } as const
    this.#watch(process, process.dependencies.executor.send(payout, id, command, envelope), () => undefined)
  }

  createIntent(): void {
    const body = { amount: 500 + this.#random.below(8_000), currency: 'XOF', transaction_country: 'SN' }
    this.#begin({
      operation: 'POST /api/v1/payment-intents',
      caller: this.#anyCaller(),
      key: this.#newKey(),
      params: {},
      body,
    })
  }

  /** Once, or at the same time in several places. */
  confirm(): void {
    const owned = this.#one(this.#intents)
    if (!owned) return this.createIntent()
    const operator = this.#random.chance(0.2) ? 'wave' : 'orange_money'
    const mobile_money = { country: 'SN', operator, msisdn: `+22177000${this.#random.pick(digits)}` }
    const payment_method = this.#random.chance(0.3)
      ? { type: 'card', card: { token: this.#random.pick(cards) } }
      : { type: 'mobile_money', mobile_money }
    const times = this.#random.pick([1, 1, 2, 3])
    for (let nth = 0; nth < times; nth++) {
      this.#onIntent('POST /api/v1/payment-intents/{id}/confirm', owned, { payment_method })
    }
  }

  cancelIntent(): void {
    const owned = this.#one(this.#intents)
    if (!owned) return this.createIntent()
    this.#onIntent('POST /api/v1/payment-intents/{id}/cancel', owned, undefined)
  }

  refund(): void {
    const owned = this.#one(this.#intents)
    if (!owned) return this.createIntent()
    const body = this.#random.chance(0.5) ? {} : { amount: 100 + this.#random.below(4_000) }
    const { caller, id } = owned
    const operation = 'POST /api/v1/merchant/payments/{id}/refund'
    this.#begin({ operation, caller, key: this.#newKey(), params: { id }, body })
  }

  /** The payer goes on in the browser, or on the telephone. */
  playCollection(): void {
    const owned = this.#one(this.#intents.filter(({ caller }) => !caller.livemode))
    if (!owned) return this.createIntent()
    const body = {
      payment_intent_id: owned.id,
      status: this.#random.pick(['succeeded', 'succeeded', 'failed']),
    }
    const { caller } = owned
    this.#begin({
      operation: 'POST /api/test/mobile-money/callback',
      caller,
      key: undefined,
      params: {},
      body,
    })
  }

  /** Nothing was heard, or the client is not sure: the same request again, maybe elsewhere. */
  repeat(): void {
    const sent = this.#one(this.#sent)
    if (sent) this.#send(sent)
    else this.topUp()
  }

  /** The operator is played for a payout, too. */
  playOperator(): void {
    const owned = this.#one(this.#payouts.filter(({ caller }) => !caller.livemode))
    if (!owned) return this.pay()
    const body = { payout_id: owned.id, status: this.#random.pick(['paid', 'failed']) }
    const { caller } = owned
    this.#begin({ operation: 'POST /api/test/payouts/callback', caller, key: undefined, params: {}, body })
  }

  show(): void {
    const owned = this.#one(this.#payouts)
    if (!owned) return this.pay()
    const { caller, id } = owned
    this.#begin({
      operation: 'GET /api/v1/payouts/{id}',
      caller,
      key: undefined,
      params: { id },
      body: undefined,
    })
  }

  #onIntent(operation: string, { caller, id }: Owned, body: object | undefined): void {
    this.#begin({ operation, caller, key: undefined, params: { id }, body })
  }

  #begin(asked: Asked): void {
    const sent = { ...asked, answer: undefined }
    if (asked.key) this.#sent.push(sent)
    this.#send(sent)
  }

  #send(sent: Sent): void {
    const process = this.#world.anyApi()
    this.#note(
      `${sent.operation} ${JSON.stringify({ ...sent.params, ...sent.body, key: sent.key })} at ${process.name}`,
    )
    this.#watch(process, ask(process.dependencies, sent), (answer) =>
      this.#answered(sent, answer as Record<string, unknown>),
    )
  }

  #watch(process: SimulatedProcess, work: Promise<unknown>, answered: (answer: unknown) => void): void {
    const { life } = process
    const { stage } = this.#world
    work.then(
      (answer) => life.alive && answered(answer),
      (error: unknown) => {
        if (!life.alive || isForeseen(error)) return
        stage.violate(
          'R10',
          `a client is answered 500: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
        )
      },
    )
  }

  /** R1: the repeat of a request is answered as it was answered first. */
  #answered(sent: Sent, answer: Record<string, unknown>): void {
    this.#note(
      `${sent.operation} key ${sent.key} is answered ${String(answer['id'])} ${String(answer['status'])}`,
    )
    const { operation, caller } = sent
    if (!retriesAfter.includes(operation)) return
    if (sent.answer && !isDeepStrictEqual(sent.answer, answer)) {
      const both = `${JSON.stringify(sent.answer)} and then ${JSON.stringify(answer)}`
      this.#world.stage.violate('R1', `${operation} with key ${sent.key} is answered ${both}`)
    }
    if (!sent.answer) {
      const id = identity(String(answer['id']), 'po', 'pi', 're')!
      if (operation === retriesAfter[0]) this.#payouts.push({ id, caller })
      if (operation === retriesAfter[1]) this.#intents.push({ id, caller })
    }
    sent.answer = answer
  }

  #note(line: string): void {
    this.#world.stage.note(() => `a merchant: ${line}`)
  }

  /** Mostly one of the newest, so that there is something to compete for. */
  #one<Item>(items: readonly Item[]): Item | undefined {
    const newest = items.slice(-4)
    return newest[this.#random.below(newest.length)]
  }

  /** Mostly the same, so that there is much going on in one book. */
  #anyCaller(): Caller {
    return this.#random.chance(0.6) ? callers[0]! : this.#random.pick(callers)
  }

  #sandboxCaller(): Caller {
    return this.#random.chance(0.8) ? callers[0]! : callers[2]!
  }

  #newKey(): string {
    return `key-${++this.#keys}`
  }
}

const acts: readonly ((merchants: Merchants) => void)[] = [
  (merchants) => merchants.topUp(),
  (merchants) => merchants.topUp(),
  (merchants) => merchants.pay(),
  (merchants) => merchants.pay(),
  (merchants) => merchants.pay(),
  (merchants) => merchants.cancelPayout(),
  (merchants) => merchants.createIntent(),
  (merchants) => merchants.createIntent(),
  (merchants) => merchants.confirm(),
  (merchants) => merchants.confirm(),
  (merchants) => merchants.confirm(),
  (merchants) => merchants.cancelIntent(),
  (merchants) => merchants.playCollection(),
  (merchants) => merchants.playOperator(),
  (merchants) => merchants.refund(),
  (merchants) => merchants.refund(),
  (merchants) => merchants.repeat(),
  (merchants) => merchants.repeat(),
  (merchants) => merchants.show(),
]
