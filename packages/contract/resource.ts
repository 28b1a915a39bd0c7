import type { Static, TProperties } from '@sinclair/typebox'
import { publicId } from './identity.ts'
import { base, literals, record, Type, unixSeconds, type TSchema } from './vocabulary.ts'

/** Fields of every state that is shown as it is stored. */
interface Born {
  readonly livemode: boolean
  /** RFC 3339. */
  readonly createdAt: string
}

type Stored<Fields extends TProperties> = Born & {
  readonly [Name in keyof Fields]: Static<Fields[Name]>
}

/**
 * Schema and view of a resource that is shown as stored: a field is declared once for event, request and
 * resource. A stream without events, or whose object was deleted, is not shown.
 */
export function resource<Name extends string, Fields extends TProperties>(
  object: Name,
  prefix: string,
  fields: Fields,
) {
  const schema = record({ ...base(object, prefix), ...fields })
  const names = Object.keys(fields)
  type Gone = { readonly status: 'none' | 'deleted' }
  const view = (id: string, state: Gone | Stored<Fields>): Static<typeof schema> | undefined => {
    if (!('createdAt' in state)) return undefined
    const { livemode, createdAt } = state
    const shown = { id: publicId(prefix, id), object, livemode, created: unixSeconds(createdAt) }
    const kept = state as Readonly<Record<string, unknown>>
    // The names are those of the schema, which TypeScript cannot see through a loop.
    return Object.assign(shown, Object.fromEntries(names.map((name) => [name, kept[name]]))) as never
  }
  return { schema, view }
}

/** The response to a DELETE. */
export function deletion<Name extends string>(object: Name, prefix: string) {
  const { id } = base(object, prefix)
  const schema = record({ id, object: literals(object), deleted: Type.Literal(true) })
  const view = (uuid: string) => ({ id: publicId(prefix, uuid), object, deleted: true as const })
  return { schema, view }
}

/** The resource's own `object`: `payout`. */
export function objectName({ properties }: TSchema): string | undefined {
  return (properties as { object?: { enum?: readonly string[] } } | undefined)?.object?.enum?.[0]
}
