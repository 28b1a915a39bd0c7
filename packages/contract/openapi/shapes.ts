import { pascal } from './names.ts'
import type { TSchema } from '../vocabulary.ts'

type Properties = Readonly<Record<string, TSchema>>

/** Identifies a schema to clients: without internal keywords, and without the description of its place. */
export function shapeOf({ description: _, ...shape }: TSchema): string {
  return JSON.stringify(shape, (key, value: unknown) =>
    typeof value !== 'object' || value === null || Array.isArray(value) ? value : sorted(value, key),
  )
}

function sorted(value: object, key: string): object {
  const entries = Object.entries(value)
  const shown = key === 'properties' ? entries : entries.filter(([name]) => !name.startsWith('x-'))
  return Object.fromEntries(shown.sort(([one], [other]) => (one < other ? -1 : 1)))
}

/** The non-null part of a nullable schema; `undefined` for any other. */
export function withoutNull(schema: TSchema): TSchema | undefined {
  const { type, enum: words, anyOf, ...rest } = schema as TSchema & Nullable
  if (Array.isArray(type) && type.includes('null')) {
    const [only, ...others] = type.filter((one) => one !== 'null')
    const values = words && { enum: words.filter((word) => word !== null) }
    return { ...rest, ...values, type: others.length > 0 ? [only, ...others] : only } as TSchema
  }
  const branches = anyOf?.filter((branch) => branch['type'] !== 'null')
  if (branches?.length !== 1 || anyOf!.length === 1) return undefined
  const [only] = branches as [TSchema]
  return { ...only, ...rest } as TSchema
}

interface Nullable {
  readonly type?: unknown
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly TSchema[]
  readonly additionalProperties?: boolean | object
}

/** Generators make a type of each of these, and invent a name such as `Type3Type1` where there is none. */
export function isType(schema: TSchema): boolean {
  const { enum: words = [], anyOf = [], additionalProperties: more = false } = schema as TSchema & Nullable
  const isMap = more !== false
  const branches = anyOf.filter((branch) => branch['type'] !== 'null')
  return words.length > 1 || branches.length > 1 || 'properties' in schema || isMap
}

/** The value of `type` that distinguishes an object of a union from the others: `mobile_money`. */
export function kindOf(branch: TSchema): string | undefined {
  const { type } = (branch['properties'] ?? {}) as Properties
  const [word, ...others] = (type?.['enum'] as readonly string[] | undefined) ?? []
  return others.length === 0 ? word : undefined
}

/** The suffix that names one branch of a union. */
export function branchName(branch: TSchema, index: number): string {
  return pascal(kindOf(branch) ?? `option ${index + 1}`)
}
