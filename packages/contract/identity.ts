import { hash } from 'node:crypto'

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

const namespaceBytes = 16
/** The first digit of an id's fourth group, which has two bits of its own. */
const variants = ['8', '9', 'a', 'b']
/** What was hashed last, in memory that is used again. */
let named = Buffer.alloc(1_024)

/** A UUID of this version made of a digest of at least 32 hex digits. */
export function uuidOf(digest: string, version: number): string {
  const [first, second, third] = [digest.slice(0, 8), digest.slice(8, 12), digest.slice(13, 16)]
  const variant = variants[Number.parseInt(digest[16]!, 16) & 3]!
  return `${first}-${second}-${version}${third}-${variant}${digest.slice(17, 20)}-${digest.slice(20, 32)}`
}

/**
 * The same name under the same namespace always gives the same id (UUID version 5). The package `uuid`, with
 * which a test compares it, takes five times as long, and a payment needs eight of these.
 */
export function derivedId(namespace: string, name: string): string {
  const most = namespaceBytes + 3 * name.length
  if (most > named.length) named = Buffer.alloc(most)
  if (named.write(namespace.replaceAll('-', ''), 'hex') !== namespaceBytes)
    throw new TypeError(`the namespace ${namespace} is not a UUID`)
  const end = namespaceBytes + named.write(name, namespaceBytes)
  return uuidOf(hash('sha1', named.subarray(0, end), 'hex'), 5)
}
