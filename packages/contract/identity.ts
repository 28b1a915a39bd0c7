import { v5 } from 'uuid'

/**
 * One identity, two spellings: objects that the specification shows with a public string id are written as a
 * prefix and 32 hex digits, all others as a bare UUID. Every id that comes in may have either spelling. Each
 * family declares its prefixes (`packages/domain/<family>/index.ts`).
 *
 * `po` and `0190a1b2-…` make `po_0190a1b2…`.
 */
export function publicId(prefix: string, uuid: string): string {
  return `${prefix}_${uuid.replaceAll('-', '')}`
}

const spelling =
  /^(?:([a-z]{2,8})_)?([0-9a-f]{8})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{12})$/i

/** The UUID behind either spelling; `undefined` for what is none, or carries another prefix. */
export function identity(text: string, ...prefixes: readonly string[]): string | undefined {
  const [, prefix, ...groups] = spelling.exec(text) ?? []
  if (groups.length === 0) return undefined
  if (prefix && !prefixes.includes(prefix.toLowerCase())) return undefined
  return groups.join('-').toLowerCase()
}

/** The same for what may carry any prefix. */
export function anyIdentity(text: string): string | undefined {
  const [, , ...groups] = spelling.exec(text) ?? []
  return groups.length === 0 ? undefined : groups.join('-').toLowerCase()
}

const publicEvents = 'b6c8f9d2-2a57-5f0c-8e9b-4d1a7c3e5f68'

/** The public id of the event that merchants get for a domain event. */
export function publicEventId(eventId: string): string {
  return publicId('evt', derivedId(publicEvents, eventId))
}

/** The same name under the same namespace is always the same id (UUID version 5). */
export function derivedId(namespace: string, name: string): string {
  // `uuid` would take as long to read the namespace as to hash the name.
  return v5(Buffer.from(name), Buffer.from(namespace.replaceAll('-', ''), 'hex'))
}
