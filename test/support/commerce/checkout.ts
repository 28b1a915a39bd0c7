import type { MerchantClient } from '../service.ts'

export interface Opened {
  readonly id: string
  readonly url: string
}

/** An order of 5 000 XOF in Côte d'Ivoire, unless the test says otherwise. */
export async function openSession(
  service: MerchantClient,
  body: Readonly<Record<string, unknown>> = {},
): Promise<Opened> {
  const order = { amount: 5_000, currency: 'XOF', country: 'CI', ...body }
  const answer = await service.post<{ id: string; url: string }>('/api/v1/checkout/sessions', order)
  if (answer.status !== 201) throw new Error(JSON.stringify(answer.body))
  // The service does not know by which port it is reached.
  return { id: answer.body.id, url: `${service.url}${new URL(answer.body.url).pathname}` }
}

/** No magic number: it waits for the operator's answer. */
export const waiting = { country: 'CI', operator: 'orange_money', msisdn: '+2250700000042' }

export function byPhone(mobile_money: Readonly<Record<string, string>> = waiting) {
  return { payment_method: { type: 'mobile_money', mobile_money } }
}

/** The operator's answer to the newest try. */
export async function answerPayment(
  service: MerchantClient,
  paymentIntent: unknown,
  status: 'succeeded' | 'failed' = 'succeeded',
): Promise<void> {
  const body = { payment_intent_id: paymentIntent, status }
  const answer = await service.post('/api/test/mobile-money/callback', body)
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.body))
}
