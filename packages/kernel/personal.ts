import type { TSchema } from '@sinclair/typebox'
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

/** Paths of a schema's personal fields: `{ destination: { msisdn: true } }`. */
export type PersonalFields = { readonly [field: string]: true | PersonalFields }

export function personalFieldsOf(schema: TSchema): PersonalFields {
  const found: Record<string, true | PersonalFields> = {}
  const parts = [schema, ...((schema['anyOf'] as readonly TSchema[] | undefined) ?? [])]
  for (const [name, field] of parts.flatMap((part) => Object.entries((part['properties'] ?? {}) as Fields))) {
    const inner = field[mark] ? true : personalFieldsOf(field)
    const known = found[name]
    if (inner === true || known === true) found[name] = true
    else if (Object.keys(inner).length > 0) found[name] = { ...known, ...inner }
  }
  return found
}

type Fields = Readonly<Record<string, TSchema>>
type Data = Readonly<Record<string, unknown>>

/** Placeholder for a sealed value, shown instead of one that was erased. */
const sealedText = ''
export const erasedText = '[erased]'

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
    if (value === null || value === undefined || value === sealedText) continue
    const parted = inner === true ? { rest: sealedText, personal: value } : part(inner, value as Data)
    if (parted.personal === undefined) continue
    if (!personal) rest = { ...data }
    personal ??= {}
    ;(rest as Record<string, unknown>)[name] = parted.rest
    personal[name] = parted.personal
  }
  return personal ? { rest, personal } : { rest }
}

/** Puts back what was taken out. */
export function join(data: Data, personal: Data): Data {
  const whole: Record<string, unknown> = { ...data }
  for (const [name, value] of Object.entries(personal)) {
    const known = whole[name]
    whole[name] = known === sealedText ? value : join(known as Data, value as Data)
  }
  return whole
}

/** The data of an event whose subject was erased: it shows where something was. */
export function erased(fields: PersonalFields, data: Data): Data {
  const shown: Record<string, unknown> = { ...data }
  for (const [name, inner] of Object.entries(fields)) {
    const value = shown[name]
    if (inner === true && value === sealedText) shown[name] = erasedText
    else if (inner !== true && value) shown[name] = erased(inner, value as Data)
  }
  return shown
}

/** Keys of the people that events are about. */
export interface PersonalKeys {
  /** Ids of all keys that a subject's data was ever sealed with: events name them. */
  idsOf(subject: string): Promise<readonly string[]>
  /** Once it resolves, nobody seals with the present key any more: what is written later gets a new one. */
  retire(subject: string): Promise<void>
  /** What was sealed with retired keys can never be opened again, in no copy of the log. */
  destroyRetired(subject: string): Promise<void>
  /**
   * Learns about once a second which keys were destroyed anywhere. What was read with them must be dropped
   * then.
   */
  watch(onDestroyed: () => void): Subscription
}
