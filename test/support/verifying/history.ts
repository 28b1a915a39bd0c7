import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import file from 'tap'
import { identity } from '../../../packages/contract/identity.ts'
import { eventually } from '../eventually.ts'
import type { TestService } from '../service.ts'

type Body = Readonly<Record<string, unknown>>

export interface History {
  /** Public ids. */
  readonly paidPayout: string
  readonly failedPayout: string
  readonly payment: string
  /** Answers every webhook with 500. */
  readonly deafEndpoint: string
  /** UUID. */
  readonly paidPayoutId: string
  readonly payoutOrder: object
}

const wave = { type: 'mobile_money', country: 'SN', operator: 'wave', msisdn: '+221770000000' }
const payoutOrder = { amount: 5_000, currency: 'XOF', destination: wave }
const orange = { country: 'SN', operator: 'orange_money', msisdn: '+221770000000' }
const byPhone = { type: 'mobile_money', mobile_money: orange }
const byCard = { type: 'card', card: { token: 'tok_visa' } }

/** Some of everything that moves money, made over HTTP: paid, failed, refunded and in progress. */
export async function makeHistory(service: TestService): Promise<History> {
  const deafEndpoint = await registerDeafEndpoint(service)
  const [paidPayout, failedPayout] = await Promise.all([played(service, 'paid'), played(service, 'failed')])
  await post(service, '/api/v1/payouts', payoutOrder)
  const payment = await pay(service, byPhone)
  await pay(service, byCard)
  await post(service, `/api/v1/merchant/payments/${payment}/refund`, { amount: 1_000, reason: 'duplicate' })
  await eventually(
    () => service.get(`/api/v1/merchant/payments/${payment}`),
    ({ body }) => body['refunded_amount'] === 1_000,
  )
  const { runtime } = service.service
  await runtime.dependencies.reads.reached(await runtime.dependencies.store.head(), 10_000)
  await eventually(
    async () =>
      (await runtime.postgres.pool.query('select from deliveries where last_status = 500')).rowCount ?? 0,
    (count) => count > 0,
  )
  return {
    paidPayout,
    failedPayout,
    payment,
    deafEndpoint,
    paidPayoutId: identity(paidPayout, 'po')!,
    payoutOrder,
  }
}

async function post(service: TestService, path: string, body: object): Promise<Body> {
  const answer = await service.post(path, body)
  if (answer.status >= 300) throw new Error(`${path}: ${JSON.stringify(answer.body)}`)
  return answer.body
}

async function played(service: TestService, status: 'paid' | 'failed'): Promise<string> {
  const { id } = await post(service, '/api/v1/payouts', payoutOrder)
  await post(service, '/api/test/payouts/callback', { payout_id: id, status })
  return String(id)
}

async function pay(service: TestService, method: typeof byPhone | typeof byCard): Promise<string> {
  const request = { amount: 20_000, currency: 'XOF', transaction_country: 'SN' }
  const { id } = await post(service, '/api/v1/payment-intents', request)
  await post(service, `/api/v1/payment-intents/${String(id)}/confirm`, { payment_method: method })
  if (method === byPhone) {
    await post(service, '/api/test/mobile-money/callback', { payment_intent_id: id, status: 'succeeded' })
  }
  await eventually(
    () => service.get(`/api/v1/payment-intents/${String(id)}`),
    ({ body }) => body['status'] === 'succeeded',
  )
  return String(id)
}

/** A merchant's server that accepts no webhook. */
async function registerDeafEndpoint(service: TestService): Promise<string> {
  const server = createServer((_, response) => void response.writeHead(500).end('no'))
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  file.teardown(() => void server.close().closeAllConnections())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`
  const { id } = await post(service, '/api/v1/webhook-endpoints', { url, enabled_events: ['payout.paid'] })
  return String(id)
}
