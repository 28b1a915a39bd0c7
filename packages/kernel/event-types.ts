import type { Static, TSchema } from '@sinclair/typebox'
import { personalFieldsOf, type PersonalFields } from './personal.ts'

/**
 * Converts data stored as an older version to the next version. It is plain JSON whose shape is not known
 * here.
 */
type Upcast = (older: Record<string, never>) => object

export interface EventType<Schema extends TSchema = TSchema> {
  readonly version: number
  readonly schema: Schema
  /** `upcasts[n]` converts data of version n to version n + 1. */
  readonly upcasts: Readonly<Record<number, Upcast>>
  /** Left out when nothing is personal. */
  readonly sealing?: Sealing
}

/** Which fields of an event are sealed, and with whose key. */
interface Sealing {
  readonly fields: PersonalFields
  /** Unique within one owner: `customer/<id>`, `contact/+221…`. */
  readonly subjectOf: SubjectOf
}

/** The person the data is about; `id` is the stream's. `undefined` when it is about nobody after all. */
type SubjectOf<Data = never> = (data: Data, id: string) => string | undefined

export type EventTypes = Readonly<Record<string, EventType>>
export type EventsOf<Types extends EventTypes> = {
  [Type in keyof Types & string]: Static<Types[Type]['schema']> & object
}

/**
 * Declares how one type of event is stored. Stored events are for ever, so each older version needs its
 * upcast.
 */
export function stored<Schema extends TSchema>(
  version: number,
  schema: Schema,
  upcasts: Readonly<Record<number, Upcast>> = {},
): EventType<Schema> {
  for (let older = 1; older < version; older++) {
    if (!upcasts[older]) throw new Error(`there is no upcast from version ${older}`)
  }
  return { version, schema, upcasts }
}

/** The same for an event with personal fields: they are sealed with the key of the person it is about. */
export function sealedFor<Schema extends TSchema>(
  subjectOf: SubjectOf<Static<Schema>>,
  type: EventType<Schema>,
): EventType<Schema> {
  return { ...type, sealing: { fields: personalFieldsOf(type.schema), subjectOf } }
}

/** The upcast from the first format, whose data repeated the metadata's owner and time. */
export function withoutStamp({ merchant, livemode, at, ...data }: Record<string, never>): object {
  return data
}

/** Brings stored data up to the version that `evolve` understands. */
export function upcast(type: EventType, version: number, data: object): object {
  let current = data
  for (let older = version; older < type.version; older++) {
    current = type.upcasts[older]!(current as Record<string, never>)
  }
  return current
}
