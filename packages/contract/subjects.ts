import type { RailMethod } from '../kernel/rail-ports.ts'

/** Whom a way of paying is about. What is kept of a card says nothing of its holder. */
export function holderOf(method: RailMethod): string | undefined {
  if (method.type === 'card') return undefined
  if (method.type === 'bank') return `account/${method.bankCode}/${method.accountNumber}`
  return `contact/${method.msisdn}`
}
