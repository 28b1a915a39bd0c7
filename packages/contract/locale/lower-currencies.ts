import { Currency, LowerCurrency, type TSchema } from '../vocabulary.ts'

interface Lowered {
  readonly schema: TSchema
  /** A copy of a value of this schema with its currencies in lower case. */
  readonly lower: (value: unknown) => unknown
}

type Fields = Readonly<Record<string, TSchema>>

/**
 * Spec, Webhook event: currencies are upper case in resources and lower case in webhook data. Only this
 * converts them, wherever the schema has a currency.
 */
export function lowerCurrencies(schema: TSchema): Lowered {
  if (schema['pattern'] === Currency.pattern) return lowerText(schema)
  if (schema['properties']) return lowerFields(schema)
  if (schema['items']) return lowerItems(schema)
  if (schema['anyOf']) return lowerBranches(schema)
  return { schema, lower: (value) => value }
}

function lowerText(schema: TSchema): Lowered {
  const { 'x-normalize': _, ...rest } = schema as TSchema & { readonly 'x-normalize'?: string }
  const { pattern, description } = LowerCurrency
  return {
    schema: { ...rest, pattern, description } as TSchema,
    lower: (value) => (typeof value === 'string' ? value.toLowerCase() : value),
  }
}

function lowerFields(schema: TSchema): Lowered {
  const fields = Object.entries(schema['properties'] as Fields).map(
    ([name, field]) => [name, lowerCurrencies(field)] as const,
  )
  const properties = Object.fromEntries(fields.map(([name, field]) => [name, field.schema]))
  return {
    schema: { ...schema, properties } as TSchema,
    lower: (value) => {
      if (typeof value !== 'object' || value === null) return value
      const lowered: Record<string, unknown> = { ...value }
      for (const [name, field] of fields) if (name in lowered) lowered[name] = field.lower(lowered[name])
      return lowered
    },
  }
}

function lowerItems(schema: TSchema): Lowered {
  const items = lowerCurrencies(schema['items'] as TSchema)
  return {
    schema: { ...schema, items: items.schema } as TSchema,
    lower: (value) => (Array.isArray(value) ? value.map(items.lower) : value),
  }
}

/** Branches are objects with different fields, or null: each leaves other fields alone. */
function lowerBranches(schema: TSchema): Lowered {
  const branches = (schema['anyOf'] as readonly TSchema[]).map(lowerCurrencies)
  return {
    schema: { ...schema, anyOf: branches.map((branch) => branch.schema) } as TSchema,
    lower: (value) => branches.reduce((lowered, branch) => branch.lower(lowered), value),
  }
}
