import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'

export interface Target {
  readonly port: number
  readonly sandboxKey: string
}

export interface Filling {
  readonly signal: AbortSignal
  readonly tell: (done: number) => void
}

export interface Sink {
  readonly url: string
  readonly received: () => number
  close(): void
}

/** A merchant's endpoint that takes everything. */
export async function openSink(): Promise<Sink> {
  let received = 0
  const server = createServer((request, response) => {
    request.resume().once('end', () => {
      received++
      response.writeHead(204).end()
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  return { url, received: () => received, close: () => void server.close().closeAllConnections() }
}

interface Created {
  readonly id: string
}

/** What was made, or how the request was not answered as it should have been. */
interface Answer {
  readonly created?: Created
  readonly failure?: string
}

/** The wallet does not exist, so that the money comes back and lasts for any number of payouts. */
const wallet = { country: 'SN', operator: 'wave', msisdn: '+221770000002' }
const payout = { amount: 500, currency: 'XOF', destination: { type: 'mobile_money', ...wallet } }
const intent = { amount: 1_000, currency: 'XOF', transaction_country: 'SN' }
const card = { payment_method: { type: 'card', card: { token: 'tok_ok' } } }

const workersAtFirst = 32
const insufficientFunds = 'IKW-PAYOUT-003'
/** How long a merchant whose money is all under way waits before he asks again, and how often in a row. */
const moneyBackMs = 250
const asksMax = 240

/** A merchant who pays out, takes payments and looks at lists. */
export class Merchant {
  readonly #target: Target
  /** Requests that were not answered as they should have been. */
  readonly failures: string[] = []
  done = 0

  constructor(target: Target) {
    this.#target = target
  }

  async subscribe(url: string): Promise<void> {
    await this.#ask('POST', '/api/v1/webhook-endpoints', { url, enabled_events: ['*'] })
  }

  /**
   * Payouts and payments in turns, as fast as there is money for them, until the bounded caches of all
   * processes are full: later they do not grow.
   */
  async fill(units: number, { signal, tell }: Filling): Promise<void> {
    let begun = 0
    const worker = async () => {
      while (begun < units && !signal.aborted) {
        await (++begun % 2 === 0 ? this.#payOutOnceThereIsMoney(signal) : this.#takePayment())
        if (++this.done % 5_000 === 0) tell(this.done)
      }
    }
    await Promise.all(Array.from({ length: workersAtFirst }, worker))
  }

  /** So many units a second, in even steps, until the signal aborts. */
  async keep(perSecond: number, signal: AbortSignal): Promise<void> {
    const underWay = new Set<Promise<void>>()
    for (let dueAt = performance.now(), nth = 0; !signal.aborted; dueAt += 1_000 / perSecond, nth++) {
      const waitMs = dueAt - performance.now()
      if (waitMs > 1) await pause(waitMs)
      const unit = this.#unit(nth).then(() => void this.done++)
      underWay.add(unit)
      void unit.then(() => underWay.delete(unit))
    }
    await Promise.all(underWay)
  }

  async #unit(nth: number): Promise<void> {
    if (nth % 10 === 9) await this.#ask('GET', '/api/v1/merchant/payouts?limit=20')
    else if (nth % 2 === 0) await this.#payOut()
    else await this.#takePayment()
  }

  async #payOut(): Promise<void> {
    await this.#ask('POST', '/api/v1/payouts', payout)
  }

  async #payOutOnceThereIsMoney(signal: AbortSignal): Promise<void> {
    for (let asks = 1; !signal.aborted; asks++) {
      const { failure } = await this.#answer('POST', '/api/v1/payouts', payout)
      if (!failure) return
      if (!failure.includes(insufficientFunds) || asks === asksMax) return void this.failures.push(failure)
      await pause(moneyBackMs)
    }
  }

  async #takePayment(): Promise<void> {
    const created = await this.#ask('POST', '/api/v1/payment-intents', intent)
    if (created) await this.#ask('POST', `/api/v1/payment-intents/${created.id}/confirm`, card)
  }

  async #ask(method: string, path: string, body?: object): Promise<Created | undefined> {
    const { created, failure } = await this.#answer(method, path, body)
    if (failure) this.failures.push(failure)
    return created
  }

  async #answer(method: string, path: string, body?: object): Promise<Answer> {
    const { port, sandboxKey } = this.#target
    const headers = {
      authorization: `Bearer ${sandboxKey}`,
      'ikw-environment': 'sandbox',
      ...(body && { 'content-type': 'application/json', 'idempotency-key': randomUUID() }),
    }
    try {
      const request = { method, headers, ...(body && { body: JSON.stringify(body) }) }
      const answer = await fetch(`http://127.0.0.1:${port}${path}`, request)
      const text = await answer.text()
      if (answer.ok) return { created: JSON.parse(text) as Created }
      return { failure: `${method} ${path}: ${answer.status} ${text.slice(0, 200)}` }
    } catch (error) {
      return { failure: `${method} ${path}: ${String((error as Error).cause ?? error)}` }
    }
  }
}
