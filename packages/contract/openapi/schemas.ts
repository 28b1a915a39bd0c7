import { vocabulary, type TSchema } from '../vocabulary.ts'
import { textOf } from './field-texts.ts'
import { pascal, singular } from './names.ts'
import { branchName, isType, kindOf, shapeOf, withoutNull } from './shapes.ts'

/** A part of the document: plain JSON. */
export type Json = Readonly<Record<string, unknown>>

/** Candidate names for a schema at some place, best first. */
type Names = readonly string[]
type Properties = Readonly<Record<string, TSchema>>

interface Named {
  readonly name: string
  readonly schema: TSchema
  /** Schemas inside it are named after these. */
  readonly inside: Names
}

/**
 * The document's named schemas. A schema is identified by its shape, because making it optional copies it.
 * Enumerations, unions and objects inside others are named after their place. Only referenced ones are
 * listed.
 */
export class NamedSchemas {
  /** By shape: schemas that have the same name everywhere. */
  readonly #everywhere = new Map<string, Named>()
  readonly #shapes = new Map<string, string>()
  readonly #shown = new Map<string, unknown>()
  #isOpen = false

  constructor() {
    for (const [name, schema] of Object.entries(vocabulary)) this.name(name, schema)
  }

  /**
   * Names a schema unless it has a name; `other` is used when the name belongs to another schema. Schemas
   * inside it are named after `owner` where they can: `Payout` for a request that creates one.
   */
  name(name: string, schema: TSchema, { other = name, owner = name } = {}): void {
    const shape = shapeOf(schema)
    if (this.#everywhere.has(shape)) return
    const free = this.#take([name, other], shape)
    this.#everywhere.set(shape, { name: free, schema, inside: [owner, free] })
  }

  /**
   * The schema for a place in a request: a reference when it is named, otherwise inline with references
   * inside.
   */
  at(schema: unknown, names: Names = []): unknown {
    if (typeof schema !== 'object') return schema
    const one = schema as TSchema
    const other = withoutNull(one)
    if (other && this.#isNamed(other)) return this.#orNull(one, other, names)
    const named = this.#everywhere.get(shapeOf(one)) ?? this.#namedHere(one, names)
    return named ? this.#reference(named, one) : this.#inside(one, names)
  }

  /** The same for responses: fields may be added to them, which a client must accept. */
  answered(schema: unknown): unknown {
    const before = this.#isOpen
    this.#isOpen = true
    const found = this.at(schema)
    this.#isOpen = before
    return found
  }

  /** All referenced schemas. */
  components(): Json {
    return Object.fromEntries([...this.#shown].sort(([one], [other]) => one.localeCompare(other)))
  }

  #isNamed(schema: TSchema): boolean {
    return this.#everywhere.has(shapeOf(schema)) || isType(schema) || 'enum' in schema
  }

  #namedHere(schema: TSchema, names: Names): Named | undefined {
    const own = schema['x-name'] as string | undefined
    const wanted = own === undefined ? names : [own, ...names]
    if (wanted.length === 0 || !isType(schema)) return undefined
    const openness = this.#isOpen && 'properties' in schema ? 'open ' : ''
    const name = this.#take(wanted, openness + shapeOf(schema))
    return { name, schema, inside: [...new Set([wanted[0]!, name])] }
  }

  /** The first name that is free or belongs to the same shape. */
  #take(names: Names, shape: string): string {
    const free = names.find((name) => (this.#shapes.get(name) ?? shape) === shape)
    if (free === undefined)
      throw new Error(`two different schemas want to be ${names.at(-1)}: give one of them an x-name`)
    this.#shapes.set(free, shape)
    return free
  }

  #reference({ name, schema, inside }: Named, here: TSchema): Json {
    if (!this.#shown.has(name)) {
      // Set before its contents are built, so that a recursive schema terminates.
      this.#shown.set(name, undefined)
      this.#shown.set(name, this.#inside(schema, inside))
    }
    const { description } = here
    const isSaid = description === undefined || description === schema.description
    return { $ref: `#/components/schemas/${name}`, ...(!isSaid && { description }) }
  }

  #orNull({ description }: TSchema, other: TSchema, names: Names): Json {
    const { description: _, ...bare } = other
    const described = isType(other) ? other : (bare as TSchema)
    return { anyOf: [this.at(described, names), { type: 'null' }], ...(description && { description }) }
  }

  #inside(schema: TSchema, names: Names): Json {
    const entries = Object.entries(schema).filter(([key]) => !key.startsWith('x-'))
    const shown = entries.flatMap(([key, child]) => {
      if (this.#isOpen && key === 'additionalProperties' && child === false) return []
      return Object.entries(this.#keyword(key, child, names))
    })
    return Object.fromEntries(shown) as Json
  }

  #keyword(key: string, value: unknown, names: Names): Json {
    if (key === 'properties') return { properties: this.#properties(value as Properties, names) }
    if (key === 'anyOf') return this.#union(value as readonly TSchema[], names)
    if (key === 'items') return { items: this.at(value, names.map(singular)) }
    if (key === 'enum' && (value as Names).length === 1) return { const: (value as Names)[0] }
    if (key === 'additionalProperties')
      return {
        [key]: this.at(
          value,
          names.map((outer) => `${outer}Value`),
        ),
      }
    return { [key]: key === 'not' || key === 'propertyNames' ? this.at(value) : value }
  }

  #properties(properties: Properties, names: Names): Json {
    const described = Object.entries(properties).map(([name, schema]) => {
      const description = schema.description ?? textOf(name, schema)
      const shown = description === undefined ? schema : { ...schema, description }
      return [
        name,
        this.at(
          shown,
          names.map((outer) => outer + pascal(name)),
        ),
      ]
    })
    return Object.fromEntries(described) as Json
  }

  /** When each object names its kind in `type`, that field is the discriminator. */
  #union(branches: readonly TSchema[], names: Names): Json {
    const shown = branches.map((branch, index) =>
      this.at(
        branch,
        names.map((outer) => outer + branchName(branch, index)),
      ),
    )
    const kinds = branches.map(kindOf)
    if (kinds.some((kind) => kind === undefined)) return { anyOf: shown }
    const mapping = Object.fromEntries(kinds.map((kind, index) => [kind, (shown[index] as Json)['$ref']]))
    return { oneOf: shown, discriminator: { propertyName: 'type', mapping } }
  }
}
