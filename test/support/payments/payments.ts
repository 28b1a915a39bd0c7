import type { Test } from 'tap'
import type { ServiceOptions } from '../../../services/all-in-one/start.ts'
import { startService, type Answer, type TestService } from '../service.ts'

export type Body = Record<string, unknown>

export const order = { amount: 5_000, currency: 'xof', transaction_country: 'sn' }
export const intentsPath = '/api/v1/payment-intents'

/** A service, and what tests of payments need from it. Each test looks only at what it has made itself. */
export interface Payments extends TestService {
  create(change?: object): Promise<Body>
  confirm(intent: Body, body?: object): Promise<Answer>
  cancel(intent: Body): Promise<Answer>
  /** Decides the operator's answer. */
  play(intent: Body, status: string, more?: object): Promise<Answer>
  shown(intent: Body): Promise<Body>
}

export async function startPayments(t: Test, options: ServiceOptions = {}): Promise<Payments> {
  const service = await startService(t, {}, options)
  const at = (intent: Body) => `${intentsPath}/${String(intent['id'])}`
  return {
    ...service,
    async create(change = {}) {
      const answer = await service.post(intentsPath, { ...order, ...change })
      if (answer.status !== 201) throw new Error(JSON.stringify(answer.body))
      return answer.body
    },
    confirm: (intent, body = orange()) => service.post(`${at(intent)}/confirm`, body),
    cancel: (intent) => service.post(`${at(intent)}/cancel`),
    play(intent, status, more = {}) {
      const callback = { payment_intent_id: intent['id'], status, ...more }
      return service.post('/api/test/mobile-money/callback', callback)
    },
    shown: async (intent) => (await service.get(at(intent))).body,
  }
}

export function orange(digits = '0000') {
  const mobile_money = { country: 'SN', operator: 'orange_money', msisdn: `+22177000${digits}` }
  return { payment_method: { type: 'mobile_money', mobile_money } }
}

export function card(token: string, more: object = {}) {
  return { payment_method: { type: 'card', card: { token } }, ...more }
}
