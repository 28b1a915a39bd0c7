import { made } from './billing.ts'
import type { MerchantClient } from '../service.ts'

export function invoiceFor(client: MerchantClient, customerId: string, body: object = {}): Promise<string> {
  const usual = { customerId, currency: 'XOF', amountDue: 7500 }
  return made(client, '/api/v1/billing/invoices', { ...usual, ...body })
}

/** A payment that the customer has made. */
export async function paymentOf(client: MerchantClient, customerId: string): Promise<string> {
  const { body } = await client.get(`/api/v1/merchant/customers/${customerId}`)
  const order = { amount: 2_500, currency: 'XOF', transaction_country: 'CI', customer_email: body['email'] }
  const intent = await made(client, '/api/v1/payment-intents', order)
  const mobile_money = { country: 'CI', operator: 'orange_money', msisdn: '+2250700000042' }
  const method = { payment_method: { type: 'mobile_money', mobile_money } }
  await made(client, `/api/v1/payment-intents/${intent}/confirm`, method)
  const said = { payment_intent_id: intent, status: 'succeeded' }
  return made(client, '/api/test/mobile-money/callback', said)
}
