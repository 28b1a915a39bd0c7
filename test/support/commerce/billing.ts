import { randomUUID } from 'node:crypto'
import type { MerchantClient } from '../service.ts'

type Body = Readonly<Record<string, unknown>>

/** Creates something and returns its id. */
export async function made(service: MerchantClient, path: string, body: Body): Promise<string> {
  const answer = await service.post(path, body)
  if (answer.status >= 300) throw new Error(`${path}: ${JSON.stringify(answer.body)}`)
  return String(answer.body['id'])
}

/** 5 000 XOF each month, unless the test says otherwise. */
export function createPlan(service: MerchantClient, body: Body = {}): Promise<string> {
  const monthly = { name: 'Solar kit', currency: 'XOF', recurringAmount: 5_000, interval: 'month' }
  return made(service, '/api/v1/billing/plans', { ...monthly, ...body })
}

/** Customers are met by a payment. */
export async function createCustomer(
  service: MerchantClient,
  email = `${randomUUID()}@example.com`,
  currency = 'XOF',
): Promise<string> {
  const country = currency === 'XOF' ? 'CI' : 'CM'
  const order = { amount: 1_000, currency, transaction_country: country, customer_email: email }
  const { body } = await service.post('/api/v1/payment-intents', order)
  return String(body['customer'])
}

export async function subscribe(service: MerchantClient, body: Body = {}): Promise<string> {
  const plan = body['billingPlanId'] ?? (await createPlan(service))
  const customer = body['customerId'] ?? (await createCustomer(service))
  return made(service, '/api/v1/billing/subscriptions', {
    ...body,
    billingPlanId: plan,
    customerId: customer,
  })
}

/** Moves the sandbox clock of the first merchant. */
export async function passDays(service: MerchantClient, days: number): Promise<void> {
  const answer = await service.post('/api/test/clock', { advance_seconds: Math.round(days * 86_400) })
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.body))
}
