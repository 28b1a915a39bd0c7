import { countryOf } from '../../../../packages/contract/locale/countries.ts'
import { currencyExponent } from '../../../../packages/contract/locale/currencies.ts'
import { isRepeated } from '../../../../packages/contract/lists/query.ts'
import { Currency, isReachable, type TSchema } from '../../../../packages/contract/vocabulary.ts'

const rfc3339 =
  /^(\d{4}-\d{2}-\d{2})[Tt](?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/

/** A time in UTC with milliseconds; `undefined` for a text that is no time a database can store. */
export function instantOf(text: string): string | undefined {
  const [, date] = rfc3339.exec(text) ?? []
  if (date === undefined || !isDate(date)) return undefined
  const instant = new Date(Date.parse(text.toUpperCase())).toISOString()
  // The offset may lead out of four-digit years.
  return instant.length === 24 && !instant.startsWith('0000') ? instant : undefined
}

function isDate(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text) || text.startsWith('0000')) return false
  const date = new Date(`${text}T00:00:00.000Z`)
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text)
}

function isUrl(text: string): boolean {
  return /^[\x21-\x7e]+$/.test(text) && isReachable(text)
}

/** Stricter than JSON Schema's own formats, so that what is accepted means the same to everything behind. */
export const inputFormats: Readonly<Record<string, (text: string) => boolean>> = {
  'date-time': (text) => instantOf(text) !== undefined,
  date: isDate,
  uri: isUrl,
  country: (code) => countryOf(code) !== undefined,
  currency: (code) => currencyExponent(code) !== undefined,
}

/** What is wrong with a text without its format, where the schema does not say what is expected. */
export const formatMessages: Readonly<Record<string, string>> = {
  'date-time': 'must be a time as in RFC 3339, such as 2026-02-01T09:30:00Z',
  date: 'must be a day, such as 2026-02-01',
  uri: 'must be an absolute URL',
}

/** The same schema, with each time converted to UTC before it is checked, and currencies that exist. */
export function forInput<Schema extends TSchema>(schema: Schema): Schema {
  return JSON.parse(JSON.stringify(schema), (_, value: unknown) => {
    const { pattern, ...rest } = (value ?? {}) as { format?: unknown; pattern?: unknown }
    if (rest.format === 'date-time') return { ...(value as object), 'x-normalize': 'instant' }
    // A code that exists has the right form, too: one wrong code is one fault.
    if (rest.format === 'country') return rest
    return pattern === Currency.pattern ? { ...rest, format: 'currency' } : value
  }) as Schema
}

type Values = Readonly<Record<string, unknown>>

/**
 * Query parameters are texts. One that spells an integer or boolean in the usual way becomes one, and a
 * repeatable parameter becomes a list; the rest is left for the schema to refuse.
 */
export function typedQuery(schema: TSchema, query: Values): Record<string, unknown> {
  const properties = (schema as { properties?: Readonly<Record<string, TSchema>> }).properties ?? {}
  return Object.fromEntries(
    Object.entries(query).map(([name, value]) => {
      const type = properties[name]?.['type']
      return [name, type === 'array' ? valuesOf(name, value) : typed(type, value)]
    }),
  )
}

function valuesOf(name: string, value: unknown): unknown {
  if (isRepeated(name)) return [value].flat()
  return typeof value === 'string' ? value.split(',') : value
}

function typed(type: unknown, value: unknown): unknown {
  if (typeof value !== 'string') return value
  if (type === 'integer') return /^(?:0|-?[1-9]\d{0,15})$/.test(value) ? Number(value) : value
  if (type === 'boolean' && (value === 'true' || value === 'false')) return value === 'true'
  return value
}
