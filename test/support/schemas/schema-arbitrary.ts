import { fc, type Arbitrary } from '../properties.ts'

/** A JSON Schema as the document has it. */
export interface Schema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly anyOf?: readonly Schema[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: boolean | Schema
  readonly items?: Schema
  readonly minimum?: number
  readonly maximum?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly pattern?: string
  readonly format?: string
}

/** Values that pass validation and reach the rules behind it. No number is magic, no address is outside. */
const known: Readonly<Record<string, readonly unknown[]>> = {
  amount: [1, 500, 5_000, Number.MAX_SAFE_INTEGER],
  currency: ['XOF', 'xaf', 'USD', 'CDF'],
  country: ['CI', 'sn', 'CD', 'FR'],
  transaction_country: ['CI', 'sn', 'FR'],
  operator: ['orange_money', 'Orange Money', 'wave', 'free_money'],
  msisdn: ['+2250700000042', '+225 07 00 00 00 42', '+221770000042'],
  token: ['tok_visa', 'tok_declined', 'tok_3ds'],
  url: [
    'http://127.0.0.1:9/hook',
    'http://localhost/',
    'ftp://127.0.0.1/',
    'http://[::1]/',
    'http://0x7f000001/',
  ],
  enabled_events: [['*'], ['payout.*'], ['payout.paid'], []],
}

/** Values that are invalid somewhere for certain. */
const nonsense: Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    true,
    -1,
    0,
    1.5,
    1e308,
    '',
    ' ',
    '\u202e',
    '💸',
    'null',
    '../..',
    "'; drop table payouts; --",
    [],
    {},
    [[]],
  ),
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.jsonValue({ maxDepth: 3 }),
)

export class Values {
  readonly #components: Readonly<Record<string, Schema>>

  constructor(components: Readonly<Record<string, Schema>>) {
    this.#components = components
  }

  /** Mostly valid values of a schema, sometimes nonsense, at every depth. */
  of(schema: Schema, name = ''): Arbitrary<unknown> {
    const right = this.#right(this.#resolved(schema), name)
    const pool = known[name]
    return fc.oneof(
      { weight: 12, arbitrary: pool ? fc.constantFrom(...pool) : right },
      { weight: 2, arbitrary: right },
      { weight: 1, arbitrary: nonsense },
    )
  }

  #resolved(schema: Schema): Schema {
    if (!schema.$ref) return schema
    return this.#components[schema.$ref.replace('#/components/schemas/', '')]!
  }

  #right(schema: Schema, name: string): Arbitrary<unknown> {
    if ('const' in schema) return fc.constant(schema.const)
    if (schema.enum) return fc.constantFrom(...schema.enum)
    if (schema.anyOf) return fc.oneof(...schema.anyOf.map((branch) => this.of(branch, name)))
    const types = [schema.type ?? 'object'].flat()
    return fc.oneof(...types.map((type) => this.#ofType(type, schema)))
  }

  #ofType(type: string, schema: Schema): Arbitrary<unknown> {
    if (type === 'null') return fc.constant(null)
    if (type === 'boolean') return fc.boolean()
    if (type === 'integer') return fc.maxSafeInteger().map((number) => between(number, schema))
    if (type === 'number') return fc.double()
    if (type === 'array') return fc.array(this.of(schema.items ?? {}), { maxLength: 3 })
    if (type === 'object') return this.#object(schema)
    return text(schema)
  }

  #object({ properties, required = [], additionalProperties }: Schema): Arbitrary<unknown> {
    const values = typeof additionalProperties === 'object' ? this.of(additionalProperties) : nonsense
    if (!properties) return fc.dictionary(fc.string({ maxLength: 10 }), values, { maxKeys: 4 })
    const fields = Object.fromEntries(
      Object.entries(properties).map(([name, inner]) => [name, this.of(inner, name)]),
    )
    const whole = fc.record(fields, { requiredKeys: [...required] })
    const torn = fc.record(fields, { requiredKeys: [] })
    const more = fc
      .tuple(whole, fc.dictionary(fc.string({ maxLength: 10 }), nonsense, { maxKeys: 2 }))
      .map(([one, other]) => ({ ...one, ...other }))
    return fc.oneof(
      { weight: 6, arbitrary: whole },
      { weight: 1, arbitrary: torn },
      { weight: 1, arbitrary: more },
    )
  }
}

function between(number: number, { minimum = -Infinity, maximum = Infinity }: Schema): number {
  return Math.min(maximum, Math.max(minimum, number))
}

function text({ pattern, format, minLength = 0, maxLength = 60 }: Schema): Arbitrary<string> {
  if (pattern !== undefined) return fc.stringMatching(new RegExp(pattern))
  if (format === 'date-time') return fc.date({ noInvalidDate: true }).map((date) => date.toISOString())
  if (format === 'uuid') return fc.uuid()
  if (format === 'email') return fc.emailAddress()
  return fc.string({ unit: 'grapheme', minLength, maxLength: Math.min(maxLength, 60) })
}
