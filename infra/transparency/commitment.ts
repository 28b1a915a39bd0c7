import type { StoredEvent } from '../../packages/kernel/ports.ts'
import { canonicalBytes } from './canonical-json.ts'
import { sha256 } from './hashing.ts'

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
  return sha256(canonicalBytes(committedEvent(event), event.metadata.salt))
}
