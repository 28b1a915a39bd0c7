import { v5 } from 'uuid'

/**
 * One identity, two spellings: where the specification shows a public string id, an object has a prefix and
 * 32 hex digits; elsewhere a bare UUID. Either is accepted everywhere. Families declare their prefixes
 * (`packages/domain/<family>/index.ts`). `po` and `0190a1b2-…` make `po_0190a1b2…`.
 */
export function publicId(prefix: string, uuid: string): string {
  return `${prefix}_${uuid.replaceAll('-', '')}`
}

const spelling =
  /^(?:([a-z]{2,8})_)?([0-9a-f]{8})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{12})$/i

/** The UUID of either spelling; `undefined` for anything else, or another prefix. */
export function identity(text: string, ...prefixes: readonly string[]): string | undefined {
  const [, prefix, ...groups] = spelling.exec(text) ?? []
  if (groups.length === 0) return undefined
  if (prefix && !prefixes.includes(prefix.toLowerCase())) return undefined
  return groups.join('-').toLowerCase()
}

/** The same with any prefix. */
export function anyIdentity(text: string): string | undefined {
  const [, , ...groups] = spelling.exec(text) ?? []
  return groups.length === 0 ? undefined : groups.join('-').toLowerCase()
}

const publicEvents = 'b6c8f9d2-2a57-5f0c-8e9b-4d1a7c3e5f68'

/** The public id of a domain event as merchants see it. */
export function publicEventId(eventId: string): string {
  return publicId('evt', derivedId(publicEvents, eventId))
}

/** The same name under the same namespace always gives the same id (UUID version 5). */
export function derivedId(namespace: string, name: string): string {
  // The package `uuid` takes as long to parse the namespace as to hash the name.
  return v5(Buffer.from(name), Buffer.from(namespace.replaceAll('-', ''), 'hex'))
}
