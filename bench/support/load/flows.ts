import { randomBytes } from 'node:crypto'
import { expect, type Flow } from './flow.ts'
import { seededId } from './identities.ts'
import { templateFlow, type TemplatePlan } from './request-template.ts'

interface Merchants {
  /** API keys of the merchants, used in turns. */
  readonly keys: readonly string[]
}

interface Accounts {
  /** They sign in one after the other, again and again. */
  readonly accounts: readonly { readonly email: string; readonly password: string }[]
}

interface PayoutPlan extends Merchants {
  readonly flow: 'payout'
  /** To recipients whom the simulated operator pays after 2 s; for the others it never reports a result. */
  readonly isPaid?: boolean
}

/** What the load's clients do. Plain data, because it is sent to the load generator's process. */
export type FlowPlan =
  | PayoutPlan
  | ({ readonly flow: 'intent' } & Merchants)
  /** Reads one of this many seeded payouts; payout n belongs to merchant n modulo their number. */
  | ({ readonly flow: 'read'; readonly payouts: number } & Merchants)
  | ({ readonly flow: 'list'; readonly statuses: readonly string[] } & Merchants)
  /** Each of these keys, or access tokens of users, in turn. */
  | ({ readonly flow: 'get'; readonly path: string } & Merchants)
  | ({ readonly flow: 'sign-in'; readonly mayBeRefused?: true } & Accounts)
  | TemplatePlan
  | { readonly flow: 'nothing' }

/** One flow per client. */
export function flowOf(plan: FlowPlan): Flow {
  if (plan.flow === 'payout') return payoutFlow(plan)
  if (plan.flow === 'intent') return intentFlow(plan)
  if (plan.flow === 'read') return readFlow(plan)
  if (plan.flow === 'list') return listFlow(plan)
  if (plan.flow === 'get') return getFlow(plan)
  if (plan.flow === 'sign-in') return signInFlow(plan)
  if (plan.flow === 'template') return templateFlow(plan)
  return function* () {
    expect(yield get('', '/'), 200)
  }
}

function payoutFlow({ keys, isPaid = false }: PayoutPlan): Flow {
  const next = inTurn(keys)
  const ending = isPaid ? 1 : 5_555
  return function* () {
    const { key, unique } = next()
    const order = {
      amount: 5_000,
      currency: 'XOF',
      destination: {
        type: 'mobile_money',
        country: 'SN',
        operator: 'wave',
        msisdn: `+22177${digits(unique, ending)}`,
      },
      metadata: { order: `order-${unique}`, note: 'supplier invoice' },
    }
    expect(yield post(key, '/api/v1/payouts', order, unique), 201)
  }
}

function intentFlow({ keys }: Merchants): Flow {
  const next = inTurn(keys)
  return function* () {
    const { key, unique } = next()
    const order = {
      amount: 5_000,
      currency: 'XOF',
      transaction_country: 'SN',
      metadata: { order: `order-${unique}` },
    }
    const created = yield post(key, '/api/v1/payment-intents', order, unique)
    expect(created, 201)
    const { id } = JSON.parse(created.body) as { id: string }
    const mobile_money = { country: 'SN', operator: 'orange_money', msisdn: '+221770000000' }
    const method = { payment_method: { type: 'mobile_money', mobile_money } }
    expect(yield post(key, `/api/v1/payment-intents/${id}/confirm`, method), 200)
    const success = { payment_intent_id: id, status: 'succeeded' }
    expect(yield post(key, '/api/test/mobile-money/callback', success), 200)
  }
}

function readFlow({ keys, payouts }: Merchants & { readonly payouts: number }): Flow {
  return function* () {
    const number = Math.floor(Math.random() * payouts)
    expect(yield get(keys[number % keys.length]!, `/api/v1/payouts/${seededId(number)}`), 200)
  }
}

function listFlow({ keys, statuses }: Merchants & { readonly statuses: readonly string[] }): Flow {
  let count = 0
  return function* () {
    const number = count++
    const status = statuses[number % statuses.length]!
    const path = `/api/v1/merchant/payouts?status=${status}&limit=20`
    expect(yield get(keys[number % keys.length]!, path), 200)
  }
}

function getFlow({ keys, path }: Merchants & { readonly path: string }): Flow {
  let count = 0
  return function* () {
    expect(yield get(keys[count++ % keys.length]!, path), 200)
  }
}

function signInFlow({ accounts, mayBeRefused }: Accounts & { readonly mayBeRefused?: true }): Flow {
  let count = 0
  return function* () {
    const { email, password } = accounts[count++ % accounts.length]!
    const answer = yield post('', '/api/v1/auth/login', { email, password })
    expect(answer, mayBeRefused && answer.status === 503 ? 503 : 200)
  }
}

/** Merchants in turns, each time with something not used before. */
function inTurn(keys: readonly string[]) {
  const run = randomBytes(6).toString('hex')
  let count = 0
  return () => {
    const number = count++
    return { key: keys[number % keys.length]!, unique: `${run}-${number}` }
  }
}

/** Seven digits; some last four digits are magic numbers of the sandbox. */
function digits(unique: string, ending: number): string {
  const number = Number(unique.slice(unique.indexOf('-') + 1))
  return String((number % 900) * 10_000 + ending).padStart(7, '0')
}

function get(key: string, path: string): string {
  return `GET ${path} HTTP/1.1\r\n${heads(key)}\r\n`
}

function post(key: string, path: string, body: object, idempotencyKey?: string): string {
  const text = JSON.stringify(body)
  const once = idempotencyKey === undefined ? '' : `Idempotency-Key: ${idempotencyKey}\r\n`
  const type = `Content-Type: application/json\r\nContent-Length: ${text.length}\r\n`
  return `POST ${path} HTTP/1.1\r\n${heads(key)}${once}${type}\r\n${text}`
}

function heads(key: string): string {
  const credential = key && `Authorization: Bearer ${key}\r\nIkw-Environment: sandbox\r\n`
  return `Host: localhost\r\n${credential}`
}
