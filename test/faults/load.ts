import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { Ending } from './ending.ts'

export type Resource = 'payout' | 'payment_intent' | 'confirmation'

export interface Merchant {
  readonly id: string
  readonly key: string
  /** How many of its servers send requests at once: one book, many writers. */
  readonly servers: number
}

/** One request, sent with the same key until it was answered, or until nobody wanted to know any more. */
export interface Asked {
  readonly resource: Resource
  readonly merchant: string
  readonly path: string
  readonly key: string
  readonly body: object
  /** The fault that was going on when it was sent first. */
  readonly stage: string
  tries: number
  /** Left out: it was never answered, so nobody may count on anything. */
  answer?: { readonly status: number; readonly body: Readonly<Record<string, unknown>> }
}

export interface LoadOptions {
  /** Where the API listens now, one address for each of its processes. */
  readonly addresses: () => readonly string[]
  readonly merchants: readonly Merchant[]
  readonly random: () => number
}

const timeoutMs = 4_000
const betweenTriesMs = 50
const betweenRequestsMs = 20
/** So many confirmations of one intent go to the API at once, spread over its processes. */
const duelists = 6
/** Numbers that end within seconds by a callback: paid, failed, said twice. No number: a bank, at once. */
const beneficiaries = ['0001', '0001', '0002', '0008', undefined]
const bank = { type: 'bank', bank_code: 'SN010', account_number: '0012345678', account_name: 'Awa Diop' }
/** More than any balance but that of the hot book. */
const uncoveredAmount = 1_999_999

/** Merchants' servers, each with one request after the other. */
export class FaultLoad {
  readonly asked: Asked[] = []
  stage = ''
  readonly #options: LoadOptions
  #workers: readonly Promise<void>[] = []
  #answered = 0
  #turn = 0
  #stopped = false

  constructor(ending: Ending, options: LoadOptions) {
    this.#options = options
    ending.teardown(() => this.stop())
  }

  start(): void {
    const servers = this.#options.merchants.flatMap((one) => Array.from({ length: one.servers }, () => one))
    this.#workers = servers.map((merchant) => this.#work(merchant))
  }

  /** Whatever is not answered by then stays so. */
  async stop(): Promise<void> {
    this.#stopped = true
    await Promise.all(this.#workers)
  }

  /** Resolves when so many more requests are answered. */
  async answers(count: number): Promise<void> {
    const through = this.#answered + count
    while (this.#answered < through && !this.#stopped) await pause(5)
  }

  async #work(merchant: Merchant): Promise<void> {
    while (!this.#stopped) {
      const dice = this.#options.random()
      if (dice < 0.6) await this.#insist(this.#payout(merchant))
      else if (dice < 0.9) await this.#pay(merchant)
      else await this.#duel(merchant)
      await pause(betweenRequestsMs)
    }
  }

  #payout(merchant: Merchant): Asked {
    const { random } = this.#options
    const number = beneficiaries[Math.floor(random() * beneficiaries.length)]
    const wallet = { type: 'mobile_money', country: 'SN', operator: 'wave', msisdn: `+22177000${number}` }
    const isUncovered = merchant.servers === 1 && random() < 0.1
    const amount = isUncovered ? uncoveredAmount : 100 + Math.floor(random() * 50)
    const body = { amount, currency: 'XOF', destination: number ? wallet : bank }
    return this.#ask(merchant, { resource: 'payout', path: '/api/v1/payouts', body })
  }

  async #pay(merchant: Merchant): Promise<void> {
    const id = await this.#intent(merchant)
    if (id) await this.#insist(this.#confirmation(merchant, id))
  }

  /** Confirmations of one intent at once: at most one of them may have an effect. */
  async #duel(merchant: Merchant): Promise<void> {
    const id = await this.#intent(merchant)
    if (!id) return
    const confirmations = Array.from({ length: duelists }, () => this.#confirmation(merchant, id))
    await Promise.all(confirmations.map((confirmation) => this.#send(merchant, confirmation)))
  }

  async #intent(merchant: Merchant): Promise<string | undefined> {
    const body = { amount: 2_000, currency: 'XOF', transaction_country: 'SN' }
    const asked = this.#ask(merchant, { resource: 'payment_intent', path: '/api/v1/payment-intents', body })
    await this.#insist(asked)
    return asked.answer?.status === 201 ? String(asked.answer.body['id']) : undefined
  }

  #confirmation(merchant: Merchant, intent: string): Asked {
    const path = `/api/v1/payment-intents/${intent}/confirm`
    const wallet = { country: 'SN', operator: 'orange_money', msisdn: '+221770000001' }
    const body = { payment_method: { type: 'mobile_money', mobile_money: wallet } }
    return this.#ask(merchant, { resource: 'confirmation', path, body })
  }

  #ask({ id: merchant }: Merchant, what: Pick<Asked, 'resource' | 'path' | 'body'>): Asked {
    const asked = { ...what, merchant, key: randomUUID(), stage: this.stage, tries: 0 }
    this.asked.push(asked)
    return asked
  }

  /** Sends it until it is answered. A lock that another request holds may last a minute: nobody waits. */
  async #insist(wanted: Asked): Promise<void> {
    while (!this.#stopped) {
      const status = await this.#send(this.#merchantOf(wanted), wanted)
      if (wanted.answer || (status === 409 && wanted.resource === 'confirmation')) return
      await pause(betweenTriesMs)
    }
  }

  #merchantOf({ merchant }: Asked): Merchant {
    return this.#options.merchants.find(({ id }) => id === merchant)!
  }

  /** Sends it once, to one process of the API after the other; what is worth another try is no answer. */
  async #send({ key }: Merchant, wanted: Asked): Promise<number | undefined> {
    const addresses = this.#options.addresses()
    const address = addresses[this.#turn++ % addresses.length]
    wanted.tries += 1
    const headers = {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      'ikw-environment': 'sandbox',
      'idempotency-key': wanted.key,
    }
    try {
      const request = { method: 'POST', headers, body: JSON.stringify(wanted.body) }
      const signal = AbortSignal.timeout(timeoutMs)
      const response = await fetch(`${address}${wanted.path}`, { ...request, signal })
      const body = (await response.json()) as Readonly<Record<string, unknown>>
      this.#note(wanted, response.status, body)
      return response.status
    } catch {
      return undefined
    }
  }

  /** What was refused at the first try was surely refused; a later try may speak of an earlier one. */
  #note(wanted: Asked, status: number, body: Readonly<Record<string, unknown>>): void {
    const isFirstRefusal = status === 409 && wanted.resource === 'confirmation' && wanted.tries === 1
    if (status >= 400 && body['retryable'] === true && !isFirstRefusal) return
    wanted.answer = { status, body }
    this.#answered += 1
  }
}
