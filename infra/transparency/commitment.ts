import type { StoredEvent } from '../../packages/kernel/ports.ts'
import { canonicalJson } from './canonical-json.ts'
import { hashBytes, sha256Into } from './hashing.ts'

/** Of UTF-8, for each unit of UTF-16. */
const bytesPerUnitMax = 3
/** What is hashed, in memory that is used again. */
let bytes = Buffer.allocUnsafe(16_384)

/** What an event commits to, with the members listed in docs/audit.md. `data` is as stored: sealed. */
export interface CommittedEvent {
  readonly stream: string
  readonly revision: number
  readonly type: string
  readonly schema_version: number
  readonly id: string
  readonly recorded_at: string
  readonly data: object
  readonly metadata: object
}

export function committedEvent({ stream, revision, type, id, data, metadata }: StoredEvent): CommittedEvent {
  const { version, at, salt: _, ...rest } = metadata
  return { stream, revision, type, schema_version: version, id, recorded_at: at, data, metadata: rest }
}

/**
 * SHA-256 over the event's salt and the canonical JSON of what it commits to. The salt keeps guesses at an
 * event from being checked against a public log; events of the first format have none.
 */
export function commitmentOf(event: StoredEvent): Buffer {
  const commitment = Buffer.allocUnsafe(hashBytes)
  commitInto(commitment, 0, event)
  return commitment
}

/** The same, written into memory that is there. */
export function commitInto(into: Buffer, at: number, event: StoredEvent): void {
  const { salt = '' } = event.metadata
  const json = canonicalJson(committedEvent(event))
  if (bytes.length < salt.length + json.length * bytesPerUnitMax)
    bytes = Buffer.allocUnsafe(2 * bytesPerUnitMax * (salt.length + json.length))
  const begin = bytes.write(salt, 'base64url')
  sha256Into(into, at, bytes.subarray(0, begin + bytes.write(json, begin)))
}
