import { nullable, record, Type } from '../vocabulary.ts'

/** The merchant as payers see it. */
export const PayersMerchant = record({
  name: Type.String(),
  logo_url: nullable(Type.String({ description: "The merchant's own picture, where there is one" })),
  accent_color: nullable(Type.String({ description: 'The color of its buttons and links' })),
})
