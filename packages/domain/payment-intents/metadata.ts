import { givenMetadata, type MetadataChange } from '../../contract/metadata.ts'

type Given = Readonly<Record<string, unknown>>

/** Spec, Metadata rules for PaymentIntent 3. */
const reservedKeys: readonly string[] = ['Description', 'FailureReason', 'Environment']
const reservedPrefixes: readonly string[] = ['country_context.', 'internal.', 'technical.']

/** What is kept of a merchant's metadata: string values under keys that are not reserved for us. */
export function businessMetadata(given: Given): Record<string, string> {
  const kept = ownEntries(given).filter((entry): entry is [string, string] => typeof entry[1] === 'string')
  return givenMetadata(Object.fromEntries(kept))
}

/** The same for a revision, in which null removes a key. */
export function businessRevision(given: Given): MetadataChange {
  const kept = ownEntries(given).filter((entry): entry is [string, string | null] => {
    return typeof entry[1] === 'string' || entry[1] === null
  })
  return Object.fromEntries(kept)
}

function ownEntries(given: Given): [string, unknown][] {
  return Object.entries(given).filter(([key]) => !isReserved(key))
}

function isReserved(key: string): boolean {
  return reservedKeys.includes(key) || reservedPrefixes.some((prefix) => key.startsWith(prefix))
}
