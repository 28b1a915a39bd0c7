import { erasedText } from '../../kernel/personal.ts'
import type { RailMethod } from '../../kernel/ports/rails.ts'

/** The person that a payment method is about. What is kept of a card says nothing about its holder. */
export function holderOf(method: RailMethod): string | undefined {
  if (method.type === 'card') return undefined
  if (method.type === 'bank') return `account/${method.bankCode}/${method.accountNumber}`
  return `contact/${method.msisdn}`
}

/** Whether the person that a payment method is about was erased: no money can reach them by it any more. */
export function isErased(method: RailMethod): boolean {
  if (method.type === 'card') return false
  return (method.type === 'bank' ? method.accountNumber : method.msisdn) === erasedText
}
