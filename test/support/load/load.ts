import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { Ending } from '../processes/ending.ts'
import {
  confirmationOf,
  everyPayer,
  everyRecipient,
  intent,
  payoutOf,
  refundOf,
  succeedingPayers,
  type LoadRequest,
  type Resource,
} from './load-requests.ts'
import { oneOf } from '../random.ts'

export interface LoadMerchant {
  readonly id: string
  readonly key: string
  /** How many of its servers send requests at once: one book, many writers. */
  readonly servers: number
}

/** One request, sent with the same key until it was answered or given up. */
export interface Asked extends LoadRequest {
  readonly merchant: string
  readonly key: string
  /** The fault in progress when it was first sent. */
  readonly stage: string
  tries: number
  /** Left out: never answered, so nothing may be assumed about it. */
  answer?: { readonly status: number; readonly body: Readonly<Record<string, unknown>> }
}

export type Answered = Asked & Required<Pick<Asked, 'answer'>>

/** The share of each kind of unit; the rest are duels. */
export interface Mix {
  readonly payouts: number
  readonly payments: number
  readonly refunds: number
}

export interface LoadOptions {
  readonly random: () => number
  readonly merchants: readonly LoadMerchant[]
  /** Current addresses of the API's processes; requests wait while there is none. */
  readonly addresses: () => readonly string[]
  readonly mix: Mix
  readonly recipients?: readonly string[]
  readonly payers?: readonly string[]
  readonly betweenRequestsMs?: number
}

const timeoutMs = 4_000
const betweenTriesMs = 20
/** Concurrent confirmations of one intent, spread over the API's processes. */
const duelists = 6
/** More than any balance except that of a merchant with many servers. */
const uncovered = { amount: 1_999_999, part: 0.1 }

/** Merchants' servers: each sends one request after the other, and repeats what was not answered. */
export class Load {
  readonly asked: Asked[] = []
  stage = ''
  readonly #options: LoadOptions
  readonly #payments: string[] = []
  #workers: readonly Promise<void>[] = []
  #answered = 0
  #turn = 0
  #stopped = false
  #isFinishing = false

  constructor(ending: Ending, options: LoadOptions) {
    this.#options = options
    ending.teardown(() => this.stop())
  }

  start(): void {
    const servers = this.#options.merchants.flatMap((one) => Array.from({ length: one.servers }, () => one))
    this.#workers = servers.map((merchant) => this.#work(merchant))
  }

  /** Resolves when this many more requests are answered. */
  async answers(count: number): Promise<void> {
    const through = this.#answered + count
    while (this.#answered < through && !this.#stopped) await pause(1)
  }

  /** What is not answered by then stays so, until `finish`. */
  async stop(): Promise<void> {
    this.#stopped = true
    await Promise.all(this.#workers)
  }

  /** Resends what has not been answered, until it is. */
  async finish(): Promise<void> {
    this.#stopped = false
    this.#isFinishing = true
    await Promise.all(this.asked.filter(({ answer }) => !answer).map((one) => this.#insist(one)))
  }

  answered(resource?: Resource): readonly Answered[] {
    return this.asked.filter(
      (one): one is Answered =>
        one.answer !== undefined && (resource === undefined || one.resource === resource),
    )
  }

  /** Resends a request exactly, with its key. */
  async repeat(asked: Asked): Promise<NonNullable<Asked['answer']>> {
    const answer = await this.#ask(asked)
    if (!answer) throw new Error(`${asked.path} was not answered`)
    return answer
  }

  async #work(merchant: LoadMerchant): Promise<void> {
    const { random, mix, betweenRequestsMs } = this.#options
    while (!this.#stopped) {
      const dice = random()
      if (dice < mix.payouts) await this.#payOut(merchant)
      else if (dice < mix.payouts + mix.payments) await this.#takePayment(merchant)
      else if (dice < mix.payouts + mix.payments + mix.refunds) await this.#refund(merchant)
      else await this.#duel(merchant)
      if (betweenRequestsMs) await pause(betweenRequestsMs)
    }
  }

  async #payOut(merchant: LoadMerchant): Promise<void> {
    const { random, recipients = everyRecipient } = this.#options
    const isUncovered = merchant.servers === 1 && random() < uncovered.part
    const amount = isUncovered ? uncovered.amount : 100 + Math.floor(random() * 50)
    await this.#insist(this.#note(merchant, payoutOf(amount, oneOf(recipients, random))))
  }

  async #takePayment(merchant: LoadMerchant): Promise<void> {
    const { random, payers = everyPayer } = this.#options
    const id = await this.#intent(merchant)
    if (!id) return
    const payer = oneOf(payers, random)
    const confirmed = this.#note(merchant, confirmationOf(id, payer))
    await this.#insist(confirmed)
    if (confirmed.answer?.status === 200 && succeedingPayers.includes(payer)) this.#payments.push(id)
  }

  async #refund(merchant: LoadMerchant): Promise<void> {
    const [id] = this.#payments.splice(Math.floor(this.#options.random() * this.#payments.length), 1)
    if (id) await this.#insist(this.#note(merchant, refundOf(id)))
  }

  /** Concurrent confirmations of one intent: at most one of them may have an effect. */
  async #duel(merchant: LoadMerchant): Promise<void> {
    const { random, payers = everyPayer } = this.#options
    const id = await this.#intent(merchant)
    if (!id) return
    const payer = oneOf(payers, random)
    const duel = Array.from({ length: duelists }, () => this.#note(merchant, confirmationOf(id, payer)))
    await Promise.all(duel.map((confirmation) => this.#send(confirmation)))
  }

  async #intent(merchant: LoadMerchant): Promise<string | undefined> {
    const created = this.#note(merchant, intent())
    await this.#insist(created)
    return created.answer?.status === 201 ? String(created.answer.body['id']) : undefined
  }

  #note({ id: merchant }: LoadMerchant, request: LoadRequest): Asked {
    const asked = { ...request, merchant, key: randomUUID(), stage: this.stage, tries: 0 }
    this.asked.push(asked)
    return asked
  }

  /**
   * Sends it until it is answered. A lock left behind by a first try lasts a minute: nobody waits for that.
   */
  async #insist(asked: Asked): Promise<void> {
    while (!this.#stopped) {
      const status = await this.#send(asked)
      if (asked.answer || (status === 409 && !this.#isFinishing)) return
      await pause(betweenTriesMs)
    }
  }

  /**
   * Sends it once; a retryable answer counts as none, except for a confirmation refused at its first try: a
   * later one may be about an earlier one.
   */
  async #send(asked: Asked): Promise<number | undefined> {
    const answer = await this.#ask(asked)
    asked.tries += 1
    if (!answer) return undefined
    const { status, body } = answer
    const isRefused = status === 409 && asked.resource === 'confirmation' && asked.tries === 1
    if (status >= 400 && body['retryable'] === true && !isRefused) return status
    asked.answer = answer
    this.#answered += 1
    return status
  }

  /** To the API's processes in turn; `undefined` when none has answered. */
  async #ask(asked: Asked): Promise<Asked['answer']> {
    const addresses = this.#options.addresses()
    if (addresses.length === 0) return undefined
    const address = addresses[this.#turn++ % addresses.length]!
    const { key: apiKey } = this.#options.merchants.find(({ id }) => id === asked.merchant)!
    const headers = {
      authorization: `Bearer ${apiKey}`,
      'content-type': 'application/json',
      'ikw-environment': 'sandbox',
      'idempotency-key': asked.key,
    }
    try {
      const request = { method: 'POST', headers, body: JSON.stringify(asked.body) }
      const signal = AbortSignal.timeout(timeoutMs)
      const response = await fetch(`${address}${asked.path}`, { ...request, signal })
      return { status: response.status, body: (await response.json()) as Record<string, unknown> }
    } catch {
      return undefined
    }
  }
}
