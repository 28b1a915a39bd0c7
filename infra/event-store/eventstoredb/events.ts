import type { EventMetadata, NewEvent, StoredEvent } from '../../../packages/kernel/ports.ts'
import type { ProposedEvent } from './append-messages.ts'
import { parsed } from './json-bytes.ts'
import type { History } from './history.ts'
import type { ServerEvent } from './read-messages.ts'
import type { StreamNames } from './stream-names.ts'

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** Throws for events that no server would accept. */
export function proposedEvents(stream: string, events: readonly NewEvent[]): readonly ProposedEvent[] {
  if (events.length === 0) throw new TypeError(`an append to ${stream} has no events`)
  return events.map(({ id, type, data, metadata }) => {
    if (!uuid.test(id)) throw new TypeError(`the event id "${id}" is not a UUID`)
    if (type === '' || type.startsWith('$')) throw new TypeError(`an event cannot have the type "${type}"`)
    return { id, type, data: JSON.stringify(data), metadata: JSON.stringify(metadata) }
  })
}

/** An event of another store, written with the position it had there. */
export function copiedEvent({ id, type, data, metadata, position }: StoredEvent): ProposedEvent {
  return { id, type, data: JSON.stringify(data), metadata: JSON.stringify({ ...metadata, position }) }
}

/** One of our events as the service knows it; undefined when this service has not written it. */
export function storedEvent(
  { stream: onServer, revision, commit, id, type, ...content }: ServerEvent,
  { names, history }: { readonly names: StreamNames; readonly history: Pick<History, 'positionOf'> },
): StoredEvent | undefined {
  const stream = names.ours(onServer)
  const metadata = content.isJson ? parsed(content.metadata) : undefined
  if (stream === undefined || !isMetadata(metadata)) return undefined
  const data = parsed(content.data)
  if (typeof data !== 'object' || data === null) return undefined
  const { position: copied, ...own } = metadata
  if (copied !== undefined) return { stream, revision, id, type, data, position: copied, metadata: own }
  return { stream, revision, id, type, data, position: history.positionOf(safePosition(commit)), metadata }
}

/** The log would have to exceed 8 PiB before a position was too large for a number. */
export function safePosition(commit: number): number {
  if (!Number.isSafeInteger(commit)) throw new Error(`the position ${commit} is not a safe integer`)
  return commit
}

/** `position` is that of an event that was copied from another store. */
type StoredMetadata = EventMetadata & { readonly position?: number }

/** We write these with every event; the rest needs no check, because the server does not change events. */
function isMetadata(metadata: unknown): metadata is StoredMetadata {
  return (
    typeof metadata === 'object' && metadata !== null && 'correlation' in metadata && 'version' in metadata
  )
}
