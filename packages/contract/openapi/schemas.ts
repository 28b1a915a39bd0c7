import {
  AmountMinor,
  CountMinor,
  Country,
  Currency,
  Email,
  Identity,
  LowerCurrency,
  Metadata,
  Msisdn,
  SignedMinor,
  Timestamp,
  UnixSeconds,
  Url,
  Uuid,
  type TSchema,
} from '../vocabulary.ts'
import { textOf } from './field-texts.ts'

/** A part of the document: plain JSON. */
export type Json = Readonly<Record<string, unknown>>

const vocabulary = {
  AmountMinor,
  CountMinor,
  CountryCode: Country,
  CurrencyCode: Currency,
  Email,
  Identity,
  LowerCurrencyCode: LowerCurrency,
  Metadata,
  Msisdn,
  SignedMinor,
  Timestamp,
  UnixSeconds,
  Url,
  Uuid,
}

/**
 * The document's named schemas. A schema is identified by its text, because making it optional copies it.
 * Only referenced ones are listed.
 */
export class NamedSchemas {
  readonly #names = new Map<string, string>()
  readonly #schemas = new Map<string, TSchema>()
  readonly #shown = new Map<string, unknown>()
  #isOpen = false

  constructor() {
    for (const [name, schema] of Object.entries(vocabulary)) this.name(name, schema)
  }

  /** Names a schema unless it has a name; `other` is used when the name belongs to another schema. */
  name(name: string, schema: TSchema, other = name): void {
    const text = JSON.stringify(schema)
    if (this.#names.has(text)) return
    const free = [name, other].find((one) => !this.#schemas.has(one))
    if (free === undefined) throw new Error(`two different schemas want to be ${name}`)
    this.#names.set(text, free)
    this.#schemas.set(free, schema)
  }

  /**
   * The schema for a place in a request: a reference when it is named, otherwise inline with references
   * inside.
   */
  at(schema: unknown): unknown {
    const name = this.#names.get(JSON.stringify(schema))
    if (name === undefined) return this.#inside(schema)
    if (!this.#shown.has(name)) {
      // Set before its contents are built, so that a recursive schema terminates.
      this.#shown.set(name, undefined)
      this.#shown.set(name, this.#inside(this.#schemas.get(name)))
    }
    return { $ref: `#/components/schemas/${name}` }
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

  #inside(value: unknown): unknown {
    if (Array.isArray(value)) return value.map((item) => this.#child(item))
    if (typeof value !== 'object' || value === null) return value
    const entries = Object.entries(value).filter(([key]) => !key.startsWith('x-'))
    const shown = entries.flatMap(([key, child]) => {
      if (key === 'properties') return [[key, this.#properties(child as Properties)]]
      return this.#isOpen && key === 'additionalProperties' && child === false
        ? []
        : [[key, this.#child(child)]]
    })
    return Object.fromEntries(shown) as unknown
  }

  #properties(properties: Properties): Json {
    const described = Object.entries(properties).map(([name, schema]) => {
      const shown = this.#child(schema) as Json
      const text = textOf(name, schema)
      const isSaid = '$ref' in shown || 'description' in shown || text === undefined
      return [name, isSaid ? shown : { ...shown, description: text }]
    })
    return Object.fromEntries(described) as Json
  }

  #child(value: unknown): unknown {
    return typeof value === 'object' && value !== null ? this.at(value) : value
  }
}

type Properties = Readonly<Record<string, TSchema>>
