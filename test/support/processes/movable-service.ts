import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { Test } from 'tap'
import { readConfiguration } from '../../../infra/configuration.ts'
import { startService, type RunningService } from '../../../services/all-in-one/start.ts'
import { eventually } from '../eventually.ts'
import { temporaryDirectory } from '../postgres.ts'
import { clientOf, type Answer, type MerchantClient } from '../service.ts'
import type { Settings } from '../cli.ts'

type Body = Readonly<Record<string, unknown>>

interface Heard {
  readonly body: string
  readonly headers: Readonly<Record<string, string>>
}

const settings = { PORT: '0', RATE_LIMIT: 'off', EGRESS_ALLOW: '127.0.0.0/8', LOG_LEVEL: 'error' }
const destination = { type: 'mobile_money', country: 'SN', operator: 'wave', msisdn: '+221770000000' }
const order = { amount: 5_000, currency: 'XOF', destination }
const payer = { country: 'SN', operator: 'orange_money', msisdn: '+221770000000' }

/**
 * A merchant whose service moves from one place to another; it records each webhook that it receives. Created
 * after its databases, because it must stop before they are gone.
 */
export class MovingMerchant {
  /** Webhooks in order of arrival. */
  readonly requests: Heard[] = []
  readonly dataDirectory: string
  readonly #test: Test
  #running: RunningService | undefined
  #client: MerchantClient | undefined
  #hooks = ''

  constructor(t: Test) {
    this.#test = t
    this.dataDirectory = temporaryDirectory(t)
    t.teardown(() => this.stop())
  }

  get service(): RunningService {
    return this.#running!
  }

  settings(places: Settings): Settings {
    return { DATA_DIR: this.dataDirectory, ...places }
  }

  async start(places: Settings): Promise<void> {
    const configuration = readConfiguration({ ...settings, ...this.settings(places) })
    this.#running = await startService(configuration)
    this.#client = clientOf(this.#running)
  }

  async stop(): Promise<void> {
    await this.#running?.close()
    this.#running = undefined
  }

  /** Their ids. */
  get heard(): readonly string[] {
    return this.requests.map(({ headers }) => headers['webhook-id']!)
  }

  /** Answers every webhook with 204; returns the secret that signs them. */
  async listen(): Promise<string> {
    const server = createServer((request, response) => {
      void text(request).then((body) => {
        this.requests.push({ body, headers: request.headers as Heard['headers'] })
        response.writeHead(204).end()
      })
    })
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
    this.#test.teardown(() => void server.close().closeAllConnections())
    this.#hooks = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`
    return this.listenAgain()
  }

  /** The same request, with the same idempotency key. */
  async listenAgain(): Promise<string> {
    const endpoint = { url: this.#hooks, enabled_events: ['*'] }
    const headers = { 'idempotency-key': 'the-endpoint-of-this-merchant' }
    return String((await this.post('/api/v1/webhook-endpoints', endpoint, headers))['secret'])
  }

  /** Waits for the trigger that ends it. */
  async requestPayout(): Promise<string> {
    return String((await this.post('/api/v1/payouts', order))['id'])
  }

  async endPayout(id: string, status: 'paid' | 'failed'): Promise<void> {
    await this.post('/api/test/payouts/callback', { payout_id: id, status })
    await eventually(
      () => this.#client!.get(`/api/v1/payouts/${id}`),
      ({ body }) => body['status'] === status,
    )
  }

  /** Until the money is in the merchant's balance. */
  async pay(): Promise<void> {
    const before = await this.#available()
    const intent = await this.post('/api/v1/payment-intents', {
      amount: 20_000,
      currency: 'XOF',
      transaction_country: 'SN',
    })
    const id = String(intent['id'])
    const payment_method = { type: 'mobile_money', mobile_money: payer }
    await this.post(`/api/v1/payment-intents/${id}/confirm`, { payment_method })
    await this.post('/api/test/mobile-money/callback', { payment_intent_id: id, status: 'succeeded' })
    await eventually(
      () => this.#client!.get(`/api/v1/payment-intents/${id}`),
      ({ body }) => body['status'] === 'succeeded',
    )
    await eventually(
      () => this.#available(),
      (available) => available > before,
    )
  }

  async #available(): Promise<number> {
    const { body } = await this.#client!.get('/api/v1/balance')
    const available = body['available'] as readonly { readonly amount: number }[]
    return available.reduce((sum, { amount }) => sum + amount, 0)
  }

  /** Until everything that follows from the history has happened too. */
  async settled(): Promise<void> {
    const { postgres, dependencies } = this.service.runtime
    await eventually(
      async () => {
        const head = await dependencies.store.head()
        const { rows } = await postgres.pool.query<{ behind: number; waiting: number }>(
          `select (select count(*) from checkpoints where position < $1) as behind,
             (select count(*) from deliveries where status = 'pending') as waiting`,
          [head],
        )
        return rows[0]!
      },
      ({ behind, waiting }) => behind === 0 && waiting === 0,
    )
  }

  /** How often the operators were called for each operation, and how often they have moved its money. */
  async operators(): Promise<Readonly<Record<string, string>>> {
    const { rows } = await this.service.runtime.postgres.pool.query<{ reference: string; told: string }>(
      `select reference, calls || ' calls, ' || executions || ' executions' as told from sandbox_operations`,
    )
    return Object.fromEntries(rows.map(({ reference, told }) => [reference, told]))
  }

  get(path: string): Promise<Answer> {
    return this.#client!.get(path)
  }

  async post(path: string, body: object, headers: Readonly<Record<string, string>> = {}): Promise<Body> {
    const answer = await this.#client!.post(path, body, { headers })
    if (answer.status >= 300) throw new Error(`${path}: ${JSON.stringify(answer.body)}`)
    return answer.body
  }
}
