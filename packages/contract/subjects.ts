import type { RailMethod } from '../kernel/rail-ports.ts'

/** The person that a payment method is about. What is kept of a card says nothing about its holder. */
export function holderOf(method: RailMethod): string | undefined {
  if (method.type === 'card') return undefined
  if (method.type === 'bank') return `account/${method.bankCode}/${method.accountNumber}`
  return `contact/${method.msisdn}`
}
