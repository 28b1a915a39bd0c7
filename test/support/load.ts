import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { Answer, MerchantClient } from './service.ts'

export type Resource = 'payout' | 'payment_intent' | 'confirmation' | 'refund'

/** A request that is sent with the same key until it is answered. */
export interface LoadRequest {
  readonly resource: Resource
  readonly path: string
  readonly body: object
  readonly key: string
}

export interface Answered {
  readonly errand: LoadRequest
  readonly answer: Answer
  /** How often it was sent. */
  readonly tries: number
}

/**
 * Simulated operators: soon, wrong number, refused late, silent, pending, down, returned, said twice,
 * waiting.
 */
const numbers = ['0001', '0002', '0003', '0004', '0005', '0006', '0007', '0008', '0000']
const paying = ['0001', '0002', '0004', '0008', '0009', '0000']
const cards = ['tok_ok', 'tok_declined', 'tok_3ds', 'tok_any']
const bank = { type: 'bank', bank_code: 'SN010', account_number: '0012345678', account_name: 'Awa Diop' }
/** What is worth a refund later. */
const succeeding = ['0001', '0008', '0009', 'tok_ok', 'tok_any']
const betweenTriesMs = 20

/** Merchants' servers: each sends one request after the other, and repeats what was not answered. */
export class Load {
  readonly answered: Answered[] = []
  readonly unanswered: LoadRequest[] = []
  readonly #random: () => number
  readonly #payments: string[] = []
  #client: MerchantClient | undefined
  #stopped = false
  #isFinishing = false
  #workers: readonly Promise<void>[] = []

  constructor(random: () => number) {
    this.#random = random
  }

  start(workers: number): void {
    this.#workers = Array.from({ length: workers }, () => this.#work())
  }

  /** Where the service is now; requests wait while it is nowhere. */
  aim(client: MerchantClient | undefined): void {
    this.#client = client
  }

  /** Resolves when so many more requests are answered. */
  async answers(count: number): Promise<void> {
    const through = this.answered.length + count
    while (this.answered.length < through && !this.#stopped) await pause(1)
  }

  async stop(): Promise<void> {
    this.#stopped = true
    await Promise.all(this.#workers)
  }

  /** Sends again what has not been answered. */
  async finish(): Promise<void> {
    this.#stopped = false
    this.#isFinishing = true
    await Promise.all(this.unanswered.splice(0).map((errand) => this.#insist(errand, 1)))
  }

  of(resource: Resource): readonly Answered[] {
    return this.answered.filter(({ errand }) => errand.resource === resource)
  }

  async #work(): Promise<void> {
    while (!this.#stopped) {
      const dice = this.#random()
      if (dice < 0.5) await this.#insist(this.#payout())
      else if (dice < 0.8) await this.#pay()
      else await this.#refund()
    }
  }

  #payout(): LoadRequest {
    const number = this.#one([...numbers, 'bank'])
    const wallet = { type: 'mobile_money', country: 'SN', operator: 'wave', msisdn: `+22177000${number}` }
    const destination = number === 'bank' ? bank : wallet
    // Now and then one that no balance covers.
    const amount = this.#random() < 0.05 ? 1_999_999 : 100 + Math.floor(this.#random() * 50)
    return errand('payout', '/api/v1/payouts', { amount, currency: 'XOF', destination })
  }

  async #pay(): Promise<void> {
    const body = { amount: 2_000, currency: 'XOF', transaction_country: 'SN' }
    const created = await this.#insist(errand('payment_intent', '/api/v1/payment-intents', body))
    if (created?.answer.status !== 201) return
    const id = String(created.answer.body['id'])
    const payer = this.#one([...paying, ...cards])
    const wallet = { country: 'SN', operator: 'orange_money', msisdn: `+22177000${payer}` }
    const payment_method = cards.includes(payer)
      ? { type: 'card', card: { token: payer } }
      : { type: 'mobile_money', mobile_money: wallet }
    const path = `/api/v1/payment-intents/${id}/confirm`
    const confirmed = await this.#insist(errand('confirmation', path, { payment_method }))
    if (confirmed?.answer.status === 200 && succeeding.includes(payer)) this.#payments.push(id)
  }

  async #refund(): Promise<void> {
    const [id] = this.#payments.splice(Math.floor(this.#random() * this.#payments.length), 1)
    if (!id) return
    await this.#insist(errand('refund', `/api/v1/merchant/payments/${id}/refund`, { amount: 500 }))
  }

  /**
   * Sends one request until it is answered; `undefined` when the load stops before, or when its first try has
   * died and left a lock behind, which takes its time.
   */
  async #insist(wanted: LoadRequest, triesBefore = 0): Promise<Answered | undefined> {
    for (let tries = triesBefore + 1; !this.#stopped; tries++) {
      const answer = this.#client && (await ask(this.#client, wanted).catch(() => undefined))
      if (answer && isFinal(answer)) {
        const answered = { errand: wanted, answer, tries }
        this.answered.push(answered)
        return answered
      }
      if (answer?.status === 409 && !this.#isFinishing) break
      await pause(betweenTriesMs)
    }
    this.unanswered.push(wanted)
    return undefined
  }

  #one<Item>(items: readonly Item[]): Item {
    return items[Math.floor(this.#random() * items.length)]!
  }
}

function errand(resource: Resource, path: string, body: object): LoadRequest {
  return { resource, path, body, key: randomUUID() }
}

export function ask(client: MerchantClient, { path, body, key }: LoadRequest): Promise<Answer> {
  return client.post(path, body, { headers: { 'idempotency-key': key } })
}

/** What the service calls retryable is tried again with the same key, as its answer says. */
function isFinal({ status, body }: Answer): boolean {
  return status < 400 || body['retryable'] !== true
}

/** Numbers from 0 to below 1 that are the same for the same seed (mulberry32). */
export function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
