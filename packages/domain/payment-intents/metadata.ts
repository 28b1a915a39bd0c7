import { refuseField } from '../../contract/refusals.ts'

type Metadata = Readonly<Record<string, string>>

/** Spec, Metadata rules for PaymentIntent 3. */
const reservedKeys: readonly string[] = ['Description', 'FailureReason', 'Environment']
const reservedPrefixes: readonly string[] = ['country_context.', 'internal.', 'technical.']

/** Domain model 1.2. */
const keysMax = 50

/** What a merchant's metadata keeps: values that are strings, under keys that are not ours. */
export function businessMetadata(given: Readonly<Record<string, unknown>>): Record<string, string> {
  const kept = Object.entries(given).filter((entry): entry is [string, string] => {
    const [key, value] = entry
    return typeof value === 'string' && !isReserved(key)
  })
  return Object.fromEntries(kept)
}

/** The entries that differ from what is there; `undefined` when none does. */
export function changedMetadata(current: Metadata, given: Metadata): Record<string, string> | undefined {
  const different = Object.entries(given).filter(([key, value]) => current[key] !== value)
  return different.length > 0 ? Object.fromEntries(different) : undefined
}

/** Refuses metadata that has grown too large. */
export function admitMetadata(metadata: Metadata): void {
  const keys = Object.keys(metadata).length
  if (keys <= keysMax) return
  refuseField('request_must_be_valid', '/metadata', `would have ${keys} keys, more than ${keysMax}`)
}

function isReserved(key: string): boolean {
  return reservedKeys.includes(key) || reservedPrefixes.some((prefix) => key.startsWith(prefix))
}
