import { lastCharacters } from '../../contract/locale/characters.ts'
import { quoteFee } from '../../contract/payments/fees.ts'
import type { RailMethod } from '../../kernel/ports/rails.ts'
import type { CreatedIntent } from './state.ts'

/** Which of our accounts at operators and acquirers a method pays into. */
export function railOf(method: RailMethod): string {
  if (method.type === 'mobile_money') return `mobile_money.${method.country}.${method.operator}`
  if (method.type === 'card') return 'card'
  throw new Error('banks do not take payments')
}

/** What we keep of a payment, by the tariffs in force when it succeeds. */
export function feeOf(intent: CreatedIntent, method: RailMethod, now: Date): number {
  const { merchant, amount, currency, transactionCountry: country } = intent
  const operator = method.type === 'mobile_money' ? method.operator : undefined
  const terms = { merchant, amountMinor: amount, currency, country, operator, method: method.type }
  return quoteFee({ operation: 'payment', ...terms }, now).feeMinor
}

/** Whoever has a card's token can charge the card, so history keeps only enough to tell cards apart. */
export function endOf(token: string): string {
  return `…${lastCharacters(token, 4)}`
}
