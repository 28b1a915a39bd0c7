interface Schema {
  readonly type?: string | readonly string[]
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly anyOf?: readonly Schema[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly additionalProperties?: Schema | boolean
  readonly items?: Schema
  readonly minItems?: number
  readonly maxItems?: number
  readonly minimum?: number
  readonly minLength?: number
  readonly pattern?: string
  readonly format?: string
}

const byFormat: Readonly<Record<string, string>> = {
  'date-time': '2026-01-01T12:00:00.000Z',
  uuid: '0190a1b2-0000-7000-8000-000000000001',
  date: '2026-01-31',
}
/** Texts that most of our patterns accept. */
const texts = [
  'XOF',
  'SN',
  'example',
  '+221770000000',
  'merchant.available',
  'mobile_money.SN.wave',
  byFormat['uuid']!,
]

/** A value that a schema accepts: the first of each choice, and every optional field. */
export function schemaExample(schema: object): unknown {
  const { type, enum: values, anyOf, items, ...rules } = schema as Schema
  if (rules.const !== undefined) return rules.const
  if (values) return values[0]
  if (anyOf) return schemaExample(anyOf[0]!)
  switch (Array.isArray(type) ? type[0] : type) {
    case 'object':
      return Object.fromEntries(
        Object.entries(fieldsOf(rules)).map(([name, field]) => [name, schemaExample(field)]),
      )
    case 'array':
      return Array.from({ length: rules.minItems ?? Math.min(1, rules.maxItems ?? 1) }, () =>
        schemaExample(items ?? {}),
      )
    case 'integer':
    case 'number':
      return Math.max(1, rules.minimum ?? 1)
    case 'boolean':
      return true
    case 'string':
      return textOf(rules)
    default:
      return null
  }
}

/** Of a map, one entry. */
function fieldsOf({ properties, additionalProperties }: Schema): Readonly<Record<string, Schema>> {
  const isMap = !properties && typeof additionalProperties === 'object'
  return properties ?? (isMap ? { example: additionalProperties } : {})
}

function textOf({ format, pattern, minLength = 0 }: Schema): string {
  const known = format === undefined ? undefined : byFormat[format]
  const fitting = texts.find((text) => text.length >= minLength && new RegExp(pattern ?? '').test(text))
  const text = known ?? fitting
  if (text === undefined)
    throw new Error(`test/support/schemas/schema-example.ts knows no text for ${pattern ?? format}`)
  return text
}
