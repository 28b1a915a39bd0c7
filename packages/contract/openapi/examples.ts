import type { TSchema } from '../vocabulary.ts'

const uuid = '01932c5e-8f2a-7b3c-9d4e-5f6a7b8c9d0e'

export const exampleIds = {
  bare: uuid,
  of: (prefix: string) => `${prefix}_${uuid.replaceAll('-', '')}`,
}

const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo='

/**
 * Typical values by field name. Used where they fit the schema; a nullable field without an entry is null.
 */
const fields: Readonly<Record<string, unknown>> = {
  amount: 5000,
  currency: 'XOF',
  minimum_balance_currency: 'XOF',
  country: 'CI',
  countries: ['CI', 'SN'],
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
  customer: exampleIds.of('cus'),
  payment_intent: exampleIds.of('pi'),
  payment_intent_id: exampleIds.of('pi'),
  payment: exampleIds.of('pay'),
  payout_id: exampleIds.of('po'),
  event_id: exampleIds.of('evt'),
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

/** An example object of a schema. `overrides` are fields of the outermost object, used where they fit. */
export function exampleOf(schema: TSchema, overrides: Overrides = {}): unknown {
  const { properties } = schema as { properties?: Readonly<Record<string, TSchema>> }
  if (!properties) return valueOf(schema, '', {})
  return Object.fromEntries(
    Object.entries(properties).map(([name, inner]) => [name, valueOf(inner, name, overrides)]),
  )
}

function valueOf(schema: TSchema, name: string, given: Overrides): unknown {
  const suiting = [given[name], schema['examples']?.[0], fields[name], lowerCase(fields[name])].find(
    (value) => suits(schema, value),
  )
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

/** Whether a value fits this schema: its type, enum and pattern. */
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
