import { prefixes } from '../identity.ts'
import type { Operation } from '../routes.ts'
import type { TSchema } from '../vocabulary.ts'

const uuid = '01932c5e-8f2a-7b3c-9d4e-5f6a7b8c9d0e'

export const exampleIds = {
  bare: uuid,
  of: (prefix: string) => `${prefix}_${uuid.replaceAll('-', '')}`,
}

const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo='

/**
 * What a field of this name mostly holds. Taken where it suits the schema; a nullable field without a line
 * here is null.
 */
const fields: Readonly<Record<string, unknown>> = {
  amount: 5000,
  currency: 'XOF',
  minimum_balance_currency: 'XOF',
  country: 'CI',
  transaction_country: 'CI',
  operator: 'orange_money',
  msisdn: '+2250700000001',
  bank_code: 'CI093',
  account_number: '01001000000001',
  account_name: 'Awa Koné',
  name: 'Awa Koné',
  email: 'awa@example.com',
  phone: '+2250700000001',
  description: 'Order 1042',
  label: 'Salaries',
  metadata: { order: '1042' },
  customer: exampleIds.of(prefixes.customer),
  payment_intent: exampleIds.of(prefixes.payment_intent),
  payment_intent_id: exampleIds.of(prefixes.payment_intent),
  payment: exampleIds.of(prefixes.payment),
  payout_id: exampleIds.of(prefixes.payout),
  event_id: exampleIds.of(prefixes.event),
  reason: 'requested_by_customer',
  created: 1767225600,
  arrival_date_estimate: '2026-01-01T00:10:00.000Z',
  expected_by: '2026-01-01T00:10:00.000Z',
  enabled: true,
  enabled_events: ['payment_intent.succeeded', 'payout.failed'],
  secret,
  secret_last4: secret.slice(-4),
  calling_code: '+225',
  has_more: false,
  actor: `key:${uuid}`,
  key: 'order-1042',
  sequence: 4211,
  http_status: 201,
  request_id: 'req_5f6a7b8c9d0e01932c5e8f2a7b3c9d4e',
  url: 'https://shop.example.com/webhooks',
}

const formats: Readonly<Record<string, string>> = {
  'date-time': '2026-01-01T00:00:00.000Z',
  date: '2026-01-01',
  uuid,
  email: 'awa@example.com',
  uri: 'https://shop.example.com/return',
}

type Overrides = Readonly<Record<string, unknown>>

/**
 * An object of a schema as it may look. `overrides` are fields of the outermost object, taken where they
 * suit.
 */
export function exampleOf(schema: TSchema, overrides: Overrides = {}): unknown {
  const { properties } = schema as { properties?: Readonly<Record<string, TSchema>> }
  if (!properties) return valueOf(schema, '', {})
  const prefix = prefixOf(properties['object'])
  const given = { ...(properties['id'] && { id: prefix ? exampleIds.of(prefix) : uuid }), ...overrides }
  return Object.fromEntries(
    Object.entries(properties).map(([name, inner]) => [name, valueOf(inner, name, given)]),
  )
}

function prefixOf(object: TSchema | undefined): string | undefined {
  const name = (object?.['enum'] as readonly string[] | undefined)?.[0]
  return name === undefined ? undefined : (prefixes as Readonly<Record<string, string>>)[name]
}

function valueOf(schema: TSchema, name: string, given: Overrides): unknown {
  const suiting = [given[name], fields[name], lowerCase(fields[name])].find((value) => suits(schema, value))
  if (suiting !== undefined) return suiting
  const types = [schema['type']].flat()
  const branches = schema['anyOf'] as readonly TSchema[] | undefined
  if (types.includes('null') || branches?.some(({ type }) => type === 'null')) return null
  if ('const' in schema) return schema['const']
  if (schema['enum']) return (schema['enum'] as readonly unknown[])[0]
  if (branches) return valueOf(branches[0]!, name, {})
  if (types.includes('object')) return 'properties' in schema ? exampleOf(schema) : {}
  if (types.includes('array')) return schema['items'] ? [valueOf(schema['items'] as TSchema, '', {})] : []
  if (types.includes('integer') || types.includes('number')) return schema['minimum'] ?? 0
  if (types.includes('boolean')) return false
  return (
    formats[String(schema['format'])] ??
    (types.includes('string') ? name.replaceAll('_', ' ') || 'text' : null)
  )
}

/** Whether a value can stand where this schema is: its type, its words, its pattern. */
function suits(schema: TSchema, value: unknown): boolean {
  if (value === undefined) return false
  const words = schema['enum'] as readonly unknown[] | undefined
  if (words && !words.includes(value)) return false
  const types = [schema['type']].flat()
  if (schema['pattern'] !== undefined && !new RegExp(schema['pattern'] as string).test(String(value)))
    return false
  if (typeof value === 'number') return types.includes('integer') || types.includes('number')
  if (Array.isArray(value))
    return types.includes('array') && (schema['items'] as TSchema)['type'] === 'string'
  return types.includes(typeof value) && !(typeof value === 'object' && 'properties' in schema)
}

const lowerCase = (value: unknown) => (typeof value === 'string' ? value.toLowerCase() : undefined)

export type NamedExamples = Readonly<Record<string, { readonly summary: string; readonly value: unknown }>>

const mobileMoney = {
  type: 'mobile_money',
  country: 'CI',
  operator: 'orange_money',
  msisdn: '+2250700000001',
}
const bank = { type: 'bank', bank_code: 'CI093', account_number: '01001000000001', account_name: 'Awa Koné' }
const payoutRequests: NamedExamples = {
  mobile_money: {
    summary: 'To a mobile money account',
    value: { amount: 5000, currency: 'XOF', destination: mobileMoney, metadata: { order: '1042' } },
  },
  bank: { summary: 'To a bank account', value: { amount: 5000, currency: 'XOF', destination: bank } },
  saved: {
    summary: 'To a saved destination',
    value: { amount: 5000, currency: 'XOF', payout_method_id: uuid },
  },
}

/** Bodies worth showing. Operations without a line here show one that is made from their schema. */
export const requestExamples: Readonly<Partial<Record<Operation, NamedExamples>>> = {
  'POST /api/v1/payouts': payoutRequests,
  'POST /api/v1/merchant/payouts': payoutRequests,
  'POST /api/v1/merchant/settings/payouts/destinations': {
    mobile_money: {
      summary: 'A mobile money account',
      value: { ...mobileMoney, label: 'Salaries', is_default: true },
    },
    bank: { summary: 'A bank account', value: bank },
  },
  'PATCH /api/v1/merchant/settings/payouts': {
    weekly: {
      summary: 'Pay out every week',
      value: { frequency: 'weekly', keep_minimum_balance: true, minimum_balance: 50000 },
    },
    manual: { summary: 'Only when you ask for it', value: { frequency: 'manual' } },
  },
  'POST /api/v1/payment-intents': {
    mobile_money: {
      summary: "A payment in Côte d'Ivoire",
      value: {
        amount: 5000,
        currency: 'XOF',
        transaction_country: 'CI',
        description: 'Order 1042',
        metadata: { order: '1042' },
      },
    },
    customer: {
      summary: 'With a customer, found or created by e-mail',
      value: { amount: 5000, currency: 'XOF', transaction_country: 'CI', customer_email: 'awa@example.com' },
    },
  },
  'PATCH /api/v1/payment-intents/{id}': {
    metadata: { summary: 'Add a key', value: { metadata: { shipment: '77' } } },
  },
  'POST /api/v1/payment-intents/{id}/confirm': {
    mobile_money: {
      summary: 'By mobile money',
      value: {
        payment_method: {
          type: 'mobile_money',
          mobile_money: { country: 'CI', operator: 'orange_money', msisdn: '+2250700000001' },
        },
      },
    },
    card: {
      summary: 'By card',
      value: {
        payment_method: { type: 'card', card: { token: 'tok_visa' } },
        return_url: 'https://shop.example.com/return',
      },
    },
  },
  'POST /api/v1/merchant/payments/{id}/refund': {
    part: { summary: 'A part', value: { amount: 2000, reason: 'requested_by_customer' } },
    all: { summary: 'All that is left', value: {} },
  },
  'POST /api/v1/webhook-endpoints': {
    two_types: {
      summary: 'Two event types',
      value: {
        url: 'https://shop.example.com/webhooks',
        enabled_events: ['payment_intent.succeeded', 'payout.failed'],
      },
    },
    everything: {
      summary: 'Everything',
      value: { url: 'https://shop.example.com/webhooks', enabled_events: ['*'] },
    },
  },
  'POST /api/v1/webhook-endpoints/{id}': {
    off: { summary: 'Turn it off', value: { enabled: false } },
  },
  'POST /api/v1/webhook-endpoints/{id}/rotate_secret': {
    a_day: { summary: 'The old secret signs for one more day', value: { expires_in: 86400 } },
  },
  'POST /api/v1/webhook-replays': {
    event: {
      summary: 'One event',
      value: { event_id: exampleIds.of(prefixes.event), reason: 'Lost on our side' },
    },
    endpoint: {
      summary: 'All that an endpoint missed',
      value: { webhook_endpoint_id: exampleIds.of(prefixes.webhook_endpoint) },
    },
  },
}
