import type { TSchema } from '../../../packages/contract/vocabulary.ts'

type Body = Readonly<Record<string, unknown>>

/** A body with one fault, and where the fault is. */
export interface Change {
  readonly kind: 'missing' | 'wrong type' | 'unknown'
  readonly pointer: string
  readonly body: Body
}

/** Every body that is one fault away from a valid one, at every depth. */
export function changesOf(schema: TSchema, right: Body): Change[] {
  return changesAt(schema, right, { pointer: '', wrap: (body) => body })
}

interface Nesting {
  readonly pointer: string
  /** Puts a changed object back into the whole body. */
  readonly wrap: (body: Body) => Body
}

function changesAt(schema: TSchema, right: Body, { pointer, wrap }: Nesting): Change[] {
  const { properties = {}, required = [] } = schema as {
    properties?: Readonly<Record<string, TSchema>>
    required?: readonly string[]
  }
  const missing = required.map((name): Change => {
    const { [name]: _, ...rest } = right
    return { kind: 'missing', pointer: `${pointer}/${name}`, body: wrap(rest) }
  })
  const wrong = Object.entries(properties).map(([name, inner]): Change => ({
    kind: 'wrong type',
    pointer: `${pointer}/${name}`,
    body: wrap({ ...right, [name]: wrongFor(inner) }),
  }))
  const unknown: Change = {
    kind: 'unknown',
    pointer: `${pointer}/surprise`,
    body: wrap({ ...right, surprise: 1 }),
  }
  const inside = Object.entries(properties).flatMap(([name, inner]) => {
    const value = right[name]
    if (!('properties' in inner) || typeof value !== 'object' || value === null) return []
    const nesting = { pointer: `${pointer}/${name}`, wrap: (body: Body) => wrap({ ...right, [name]: body }) }
    return changesAt(inner, value as Body, nesting)
  })
  return [...missing, ...wrong, unknown, ...inside]
}

/** A number where a text belongs, and a text everywhere else. */
function wrongFor(schema: TSchema): unknown {
  const types = [schema['type']].flat()
  return types.includes('string') ? 12 : 'twelve'
}
