/** What merchants request under load: bodies that make the simulated operators behave in all their ways. */

export type Resource = 'payout' | 'payment_intent' | 'confirmation' | 'refund'

export interface LoadRequest {
  readonly resource: Resource
  readonly path: string
  readonly body: object
}

/** Soon, wrong number, refused late, silent, pending, down, returned, repeated, waiting; a bank. */
export const everyRecipient = ['0001', '0002', '0003', '0004', '0005', '0006', '0007', '0008', '0000', 'bank']
/** Those that end within seconds by a callback: paid, failed, repeated; a bank, at once. */
export const quickRecipients = ['0001', '0001', '0002', '0008', 'bank']
export const everyPayer = [
  '0001',
  '0002',
  '0004',
  '0008',
  '0009',
  '0000',
  'tok_ok',
  'tok_declined',
  'tok_3ds',
  'tok_instant',
]
/** Those whose payment can be refunded later. */
export const succeedingPayers = ['0001', '0008', '0009', 'tok_ok', 'tok_instant']

const bank = { type: 'bank', bank_code: 'SN010', account_number: '0012345678', account_name: 'Awa Diop' }

export function payoutOf(amount: number, recipient: string): LoadRequest {
  const wallet = { type: 'mobile_money', country: 'SN', operator: 'wave', msisdn: `+22177000${recipient}` }
  const body = { amount, currency: 'XOF', destination: recipient === 'bank' ? bank : wallet }
  return { resource: 'payout', path: '/api/v1/payouts', body }
}

export function intent(): LoadRequest {
  const body = { amount: 2_000, currency: 'XOF', transaction_country: 'SN' }
  return { resource: 'payment_intent', path: '/api/v1/payment-intents', body }
}

export function confirmationOf(intent: string, payer: string): LoadRequest {
  const wallet = { country: 'SN', operator: 'orange_money', msisdn: `+22177000${payer}` }
  const payment_method = payer.startsWith('tok_')
    ? { type: 'card', card: { token: payer } }
    : { type: 'mobile_money', mobile_money: wallet }
  const path = `/api/v1/payment-intents/${intent}/confirm`
  return { resource: 'confirmation', path, body: { payment_method } }
}

export function refundOf(intent: string): LoadRequest {
  return { resource: 'refund', path: `/api/v1/merchant/payments/${intent}/refund`, body: { amount: 500 } }
}
