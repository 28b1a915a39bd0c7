import { refuseField } from './refusals.ts'

export type Metadata = Readonly<Record<string, string>>
/** Keys with their new values, null for removed ones. */
export type MetadataChange = Readonly<Record<string, string | null>>

/** Domain model 1.2. */
const keysMax = 50

/** What is kept of a new object's metadata: an empty text is no value here either. */
export function givenMetadata<Value>(given: Readonly<Record<string, Value>>): Record<string, Value> {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== ''))
}

/**
 * What a revision changes: null or an empty text removes a key, null instead of the whole metadata removes
 * all keys. `undefined` when nothing changes.
 */
export function metadataChange(
  current: Metadata,
  given: MetadataChange | null | undefined,
): Record<string, string | null> | undefined {
  const asked = given === null ? Object.keys(current).map((key) => [key, null] as const) : entriesOf(given)
  const different = asked.filter(([key, value]) => valueAt(current, key) !== value)
  return different.length > 0 ? Object.fromEntries(different) : undefined
}

/** The metadata after a change; refused where it would grow too large. */
export function admitMetadata(current: Metadata, change: MetadataChange): Record<string, string> {
  const metadata = changedMetadata(current, change)
  const keys = Object.keys(metadata).length
  if (keys > keysMax)
    refuseField('request_must_be_valid', '/metadata', `would have ${keys} keys, more than ${keysMax}`)
  return metadata
}

export function changedMetadata(current: Metadata, change: MetadataChange): Record<string, string> {
  const entries = Object.entries({ ...current, ...change })
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => entry[1] !== null))
}

function entriesOf(given: MetadataChange | undefined) {
  return Object.entries(given ?? {}).map(([key, value]) => [key, value || null] as const)
}

/** Keys may be named like members that every object has. */
function valueAt(metadata: Metadata, key: string): string | null {
  return Object.hasOwn(metadata, key) ? metadata[key]! : null
}
