import type { ErrorObject } from 'ajv/dist/2020.js'
import { closest, distance } from 'fastest-levenshtein'
import { formatMessages } from './input-formats.ts'

type Params = Readonly<Record<string, unknown>>
type Say = (params: Params, error: ErrorObject) => string

/** By keyword: what was received and what was expected, for merchants' developers who know no JSON Schema. */
const sayings: Readonly<Record<string, Say>> = {
  required: () => 'is required',
  additionalProperties: ({ additionalProperty }, { parentSchema }) =>
    `is not known here${suggestion(String(additionalProperty), namesOf(parentSchema))}`,
  type: ({ type }, { data }) => `must be ${oneOf([type].flat().map(nameOfType))}, not ${shown(data)}`,
  enum: ({ allowedValues }, { data }) => {
    const words = (allowedValues as unknown[]).map((value) => String(value ?? 'null'))
    // An object may have a `toString` that is no function.
    return `must be one of ${words.join(', ')}${typeof data === 'string' ? suggestion(data, words) : ''}`
  },
  const: ({ allowedValue }) => `must be ${String(allowedValue)}`,
  format: ({ format }, { parentSchema }) => expectationOf(parentSchema, formatMessages[String(format)]),
  pattern: (_, { parentSchema }) => expectationOf(parentSchema),
  minimum: ({ limit }, { data }) => `must be at least ${limit}, not ${shown(data)}`,
  maximum: ({ limit }, { data }) => `must be at most ${limit}, not ${shown(data)}`,
  minLength: ({ limit }) => (limit === 1 ? 'must not be empty' : `must have at least ${limit} characters`),
  maxLength: ({ limit }, { data }) =>
    `must have at most ${limit} characters, not ${[...String(data)].length}`,
  minItems: ({ limit }) => `must have at least ${limit} ${limit === 1 ? 'item' : 'items'}`,
  maxItems: ({ limit }, { data }) => `must have at most ${limit} items, not ${(data as unknown[]).length}`,
  uniqueItems: () => 'must not have the same item twice',
  maxProperties: ({ limit }) => `must have at most ${limit} keys`,
  propertyNames: ({ propertyName }) =>
    `must not have a key of ${[...String(propertyName)].length} characters`,
}

/** What is wrong with a field, as the rest of a sentence that begins with its name. */
export function faultMessage(error: ErrorObject): string {
  return sayings[error.keyword]?.(error.params as Params, error) ?? 'is not valid'
}

/** `; did you mean "currency"?`, when a known name is close. */
export function suggestion(unknown: string, known: readonly string[]): string {
  if (known.length === 0) return ''
  const nearest = closest(unknown, known)
  return distance(unknown, nearest) <= Math.max(2, nearest.length / 3) ? `; did you mean "${nearest}"?` : ''
}

function namesOf(schema: object | undefined): readonly string[] {
  return Object.keys((schema as { properties?: object } | undefined)?.properties ?? {})
}

function expectationOf(schema?: object, otherwise = 'is not in the form that is expected'): string {
  const { 'x-expected': expected } = (schema ?? {}) as { 'x-expected'?: string }
  return expected === undefined ? otherwise : `must be ${expected}`
}

const typeNames: Readonly<Record<string, string>> = {
  integer: 'a whole number',
  number: 'a number',
  string: 'a text',
  boolean: 'true or false',
  object: 'an object',
  array: 'a list',
  null: 'null',
}

const nameOfType = (type: unknown) => typeNames[String(type)] ?? String(type)

function oneOf(names: readonly string[]): string {
  return names.join(' or ')
}

/** A number sent as a text; longer ones may be card numbers. */
const harmless = /^(?:[-+\d.,]{1,12}|true|false|null|)$/

/** What was received, except texts: a token or number in the wrong field must not be repeated to anyone. */
function shown(value: unknown): string {
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object' && value !== null) return 'an object'
  if (typeof value !== 'string') return String(value)
  return harmless.test(value) ? `the text "${value}"` : 'a text'
}
