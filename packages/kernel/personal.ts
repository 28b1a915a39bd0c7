import type { TSchema } from '@sinclair/typebox'
import { ownedBy, type Owner } from './owner.ts'
import type { Subscription } from './ports.ts'

/** The keyword that marks personal fields in a schema. */
const mark = 'x-personal'

/**
 * Marks a field of an event as personal: names, phone numbers, addresses, accounts, notes. It is stored
 * sealed with the key of the person it is about, so that it can be erased without touching the log.
 */
export function personal<Schema extends TSchema>(schema: Schema): Schema {
  return { ...schema, [mark]: true }
}

export function isPersonal(schema: TSchema): boolean {
  return schema[mark] === true
}

/** Paths of a schema's personal fields: `{ destination: { msisdn: 'text' } }`; metadata is a map of texts. */
export type PersonalFields = { readonly [field: string]: 'text' | 'map' | PersonalFields }

export function personalFieldsOf(schema: TSchema): PersonalFields {
  const found: Record<string, 'text' | 'map' | PersonalFields> = {}
  const parts = [schema, ...((schema['anyOf'] as readonly TSchema[] | undefined) ?? [])]
  for (const [name, field] of parts.flatMap((part) => Object.entries((part['properties'] ?? {}) as Fields))) {
    const inner = isPersonal(field) ? shapeOf(field) : personalFieldsOf(field)
    const known = found[name]
    if (typeof inner === 'string') found[name] = inner
    else if (typeof known === 'string') continue
    else if (Object.keys(inner).length > 0) found[name] = { ...known, ...inner }
  }
  return found
}

function shapeOf({ type }: TSchema): 'text' | 'map' {
  return type === 'object' ? 'map' : 'text'
}

type Fields = Readonly<Record<string, TSchema>>
type Data = Readonly<Record<string, unknown>>

/** Placeholder for a sealed value, shown instead of one that was erased. */
const sealedText = ''
export const erasedText = '[erased]'
export const erasedMap = { erased: erasedText }

/** What is erased: these texts, and metadata if it was personal. */
export interface Erased {
  readonly texts: readonly string[]
  readonly maps: boolean
}

interface Parted {
  readonly rest: Data
  /** Left out when nothing is personal. */
  readonly personal?: Data
}

/** Takes the personal fields out of an event's data. */
export function part(fields: PersonalFields, data: Data): Parted {
  let rest = data
  let personal: Record<string, unknown> | undefined
  for (const [name, inner] of Object.entries(fields)) {
    const value = data[name]
    if (isNothing(value)) continue
    const parted =
      typeof inner === 'string' ? { rest: sealedText, personal: value } : part(inner, value as Data)
    if (parted.personal === undefined) continue
    if (!personal) rest = { ...data }
    personal ??= {}
    ;(rest as Record<string, unknown>)[name] = parted.rest
    personal[name] = parted.personal
  }
  return personal ? { rest, personal } : { rest }
}

/** Nothing to seal: also an empty text or map. */
function isNothing(value: unknown): boolean {
  if (value === null || value === undefined || value === sealedText) return true
  if (typeof value !== 'object') return false
  for (const _ in value) return false
  return true
}

/** The texts among what was taken out, and whether there was a map. */
export function textsIn(fields: PersonalFields, personal: Data): Erased {
  const texts: string[] = []
  let maps = false
  for (const [name, value] of Object.entries(personal)) {
    const field = fields[name]
    if (field === 'map') {
      maps = true
      texts.push(...Object.values(value as Data).filter((text) => typeof text === 'string'))
    } else if (field === 'text') texts.push(value as string)
    else {
      const inner = textsIn(field!, value as Data)
      texts.push(...inner.texts)
      maps ||= inner.maps
    }
  }
  return { texts: texts.filter((text) => text !== erasedText), maps }
}

/** Puts back what was taken out; throws where nothing shows that it was. */
export function join(data: Data, personal: Data): Data {
  const whole: Record<string, unknown> = { ...data }
  for (const [name, value] of Object.entries(personal)) {
    const known = whole[name]
    if (known === sealedText) whole[name] = value
    else if (typeof known === 'object' && known !== null) whole[name] = join(known as Data, value as Data)
    else throw new Error(`nothing shows that ${name} was sealed`)
  }
  return whole
}

/** The data of an event whose subject was erased: it shows where something was. */
export function erased(fields: PersonalFields, data: Data): Data {
  const shown: Record<string, unknown> = { ...data }
  for (const [name, inner] of Object.entries(fields)) {
    const value = shown[name]
    if (inner === 'text' || inner === 'map') {
      if (value === sealedText) shown[name] = inner === 'map' ? erasedMap : erasedText
    } else if (value) shown[name] = erased(inner, value as Data)
  }
  return shown
}

/** A subject's name among those of all owners. */
export function subjectName(owner: Owner, about: string): string {
  return [...Object.values(ownedBy(owner)), about].join('/')
}

/** Keys of the people that events are about. */
export interface PersonalKeys {
  /** Once it resolves, nobody seals with the present key any more: what is written later gets a new one. */
  retire(subjects: readonly string[]): Promise<void>
  /** What was sealed with retired keys can never be opened again, in no copy of the log. */
  destroyRetired(subjects: readonly string[]): Promise<void>
  /**
   * Learns about once a second which keys were destroyed anywhere. What was read with them must be dropped
   * then.
   */
  watch(onDestroyed: () => void): Subscription
}
