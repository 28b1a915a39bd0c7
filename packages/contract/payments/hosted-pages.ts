import { literals, optional, record, Type } from '../vocabulary.ts'

// What the addresses of several hosted pages carry.

// Messengers and payers change addresses: what names no language or country of ours is left aside.

const lang = optional(Type.String({ description: "`fr` or `en`; anything else: the browser's language" }))

/** Where a page leads back to is stored nowhere: its address carries it. */
const back = optional(
  Type.String({ maxLength: 4096, description: 'Where the page leads back to, signed by us' }),
)

/** Payers come back from operators' pages with these. */
const brought = {
  status: optional(Type.String()),
  payment_intent: optional(Type.String()),
  operation_id: optional(Type.String()),
}

/** Of a page that leads nowhere else. */
export const LanguageQuery = record({ lang })

/** Of a page that leads back to where the payer came from. */
export const LeavingQuery = record({ lang, back })

/** Of a page to which operators send payers back. */
export const PaidQuery = record({ lang, back, ...brought })

const country = optional(
  Type.String({
    'x-normalize': 'upper',
    description: 'Where the payer pays from, as an ISO 3166-1 code, where that is another one',
  }),
)

/** The same of a page that is paid from several countries. */
export const InvoiceLeavingQuery = record({ lang, back, country })
export const InvoicePaidQuery = record({ lang, back, country, ...brought })

export const CheckoutQuery = record({
  lang,
  ...brought,
  go: optional({ ...literals('1'), description: "On to the operator's page at once" }),
})
