import { html, sentence, type Html } from './html.ts'
import { code, layout } from './layout.ts'

const cards = [
  ['/docs', 'API reference', 'Every operation, with its fields, answers and refusals.'],
  ['/docs/errors', 'Errors', 'Every code, what it means and what to do about it.'],
  ['/docs/webhooks', 'Webhooks', 'Event types, retries, and how to verify signatures.'],
  ['/docs/sandbox', 'Sandbox', 'Magic numbers and card tokens for every outcome.'],
  ['/openapi.json', 'OpenAPI 3.1', 'The reference as a document, for generators and tools.'],
] as const

/** The page at the root. */
export function startPage(baseUrl: string): string {
  return layout({
    path: '/',
    title: 'IKW Payments',
    lead: sentence(
      'Payments in, payouts out, and the books between them: mobile money and cards for merchants in West ' +
        'and Central Africa.',
    ),
    content: html` <div class="cards">${cards.map(card)}</div>
      <h2 id="first">A first payment</h2>
      <p>
        ${sentence('With a sandbox key; the number ends in `0001`, so the payer approves after two seconds.')}
      </p>
      ${code(firstPayment(baseUrl))}`,
  })
}

function card([path, name, text]: (typeof cards)[number]): Html {
  return html`<a class="card" href="${path}"><b>${name}</b><span>${text}</span></a> `
}

function firstPayment(baseUrl: string): string {
  return `curl -X POST ${baseUrl}/api/v1/payment-intents \\
  -H "Authorization: Bearer $IKW_API_KEY" -H "Content-Type: application/json" \\
  -d '{"amount": 5000, "currency": "XOF", "transaction_country": "CI"}'

curl -X POST ${baseUrl}/api/v1/payment-intents/pi_…/confirm \\
  -H "Authorization: Bearer $IKW_API_KEY" -H "Content-Type: application/json" \\
  -d '{"payment_method": {"type": "mobile_money",
       "mobile_money": {"country": "CI", "operator": "orange_money", "msisdn": "+2250700000001"}}}'

curl ${baseUrl}/api/v1/payment-intents/pi_… -H "Authorization: Bearer $IKW_API_KEY"`
}
