import { pascal } from './names.ts'

export interface Family {
  readonly tag: string
  readonly description: string
  /** Paths that belong to it, the longest match wins. */
  readonly prefixes: readonly string[]
}

/** The sections of the reference, in the order in which a newcomer needs them. */
export const families: readonly Family[] = [
  {
    tag: 'Payment intents',
    description:
      "A payment intent collects one payment. Create it, confirm it with the payer's mobile money number or " +
      'card token, then wait for a webhook or read it again. Confirming an intent that is already under way ' +
      'answers the intent as it is and never calls the operator twice.',
    prefixes: ['/api/v1/payment-intents'],
  },
  {
    tag: 'Payouts',
    description:
      "A payout sends money from the merchant's balance to a mobile money account or a bank account. The " +
      'amount and its fee are held when the payout is accepted, and come back when it fails.',
    prefixes: ['/api/v1/payouts', '/api/v1/merchant/payouts'],
  },
  {
    tag: 'Payout settings',
    description:
      'Automatic payouts, and saved destinations. A new destination can be used after a safety delay.',
    prefixes: ['/api/v1/merchant/settings/payouts'],
  },
  {
    tag: 'Payments and refunds',
    description:
      'A payment is what an intent that succeeded has collected. It can be refunded, at once or in parts, ' +
      'as long as something of it is left.',
    prefixes: ['/api/v1/merchant/payments'],
  },
  {
    tag: 'Customers',
    description: 'Customers are made from the e-mail address or the phone number of a payment intent.',
    prefixes: ['/api/v1/merchant/customers'],
  },
  {
    tag: 'Balance',
    description:
      'What the merchant has: available, pending and reserved, per currency, and every movement of it.',
    prefixes: ['/api/v1/balance', '/api/v1/balance-transactions'],
  },
  {
    tag: 'Fees',
    description: 'What a payment or a payout costs, before it is made.',
    prefixes: ['/api/v1/fees'],
  },
  {
    tag: 'Webhook endpoints',
    description:
      'Where signed notifications are sent. The signing secret is answered in full once, on creation and ' +
      'on rotation. See [how to verify a signature](/docs/webhooks).',
    prefixes: ['/api/v1/webhook-endpoints', '/api/v1/webhook-replays'],
  },
  {
    tag: 'Events',
    description: 'The same events as a feed that can be read at any time, in their order and without gaps.',
    prefixes: ['/api/v1/events'],
  },
  {
    tag: 'Operations',
    description:
      'Where a payment stands, for the payer and for support; and what became of an idempotency key.',
    prefixes: ['/operations', '/api/v1/idempotency-keys'],
  },
  {
    tag: 'Reference data',
    description: 'Countries, currencies and operators.',
    prefixes: ['/api/v1/geography'],
  },
  {
    tag: 'Sandbox',
    description:
      'Play the operator. Sandbox keys only; [magic numbers](/docs/sandbox) do the same without a call.',
    prefixes: ['/api/test'],
  },
]

/** The section of webhooks in the document. */
export const webhookTag: Family = {
  tag: 'Webhook events',
  description:
    'What is posted to your endpoints. Answer with any 2xx status within 15 seconds; anything else is ' +
    'retried after 5 min, 30 min, 2 h, 8 h and 24 h.',
  prefixes: [],
}

/** The family of a path. One that has no section yet gets its own, named after its first segment. */
export function familyOf(path: string): Family {
  const length = (family: Family) =>
    Math.max(...family.prefixes.map((prefix) => (isUnder(path, prefix) ? prefix.length : 0)))
  const [best] = families.toSorted((one, other) => length(other) - length(one))
  if (best && length(best) > 0) return best
  const segment = path.replace(/^\/(api\/)?(v1\/)?(merchant\/)?/, '').split('/')[0]!
  return { tag: pascal(segment), description: `Operations of ${segment}.`, prefixes: [] }
}

/** Where a path stands in the order of the sections and of their prefixes. */
export function placeOf(path: string): number {
  const prefixes = families.flatMap((family) => family.prefixes)
  const place = prefixes.findIndex((prefix) => isUnder(path, prefix))
  return place < 0 ? prefixes.length : place
}

function isUnder(path: string, prefix: string): boolean {
  return path === prefix || path.startsWith(`${prefix}/`)
}
