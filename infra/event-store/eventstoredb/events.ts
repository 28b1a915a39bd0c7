import {
  jsonEvent,
  streamNameFilter,
  type AllStreamResolvedEvent,
  type EventData,
  type Filter,
  type ResolvedEvent,
} from '@eventstore/db-client'
import type { EventMetadata, LogFilter, NewEvent, StoredEvent } from '../../../packages/kernel/ports.ts'
import { ownStreams, type Places } from './places.ts'

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
/** How many events the server looks through at a time for those that a filter lets through. */
const searchWindow = 500

/** Throws for events that no server would take: the client would let their append hang or end the process. */
export function proposedEvents(stream: string, events: readonly NewEvent[]): EventData[] {
  if (events.length === 0) throw new TypeError(`an append to ${stream} has no events`)
  if (stream === '' || !isOfTheLog(stream)) throw new TypeError(`a stream cannot be named "${stream}"`)
  return events.map(({ id, type, data, metadata }) => {
    if (!uuid.test(id)) throw new TypeError(`the event id "${id}" is not a UUID`)
    if (type === '' || type.startsWith('$')) throw new TypeError(`an event cannot have the type "${type}"`)
    JSON.stringify(data) // Throws here, where it can be caught, for what is not JSON.
    return jsonEvent({ id, type, data: { ...data }, metadata: { ...metadata } })
  })
}

/** An event of another server that is written with the position that it had there. */
export function copiedEvent({ id, type, data, metadata, position }: StoredEvent): EventData {
  return jsonEvent({ id, type, data: { ...data }, metadata: { ...metadata, position } })
}

export function storedEvent(
  { event }: ResolvedEvent | AllStreamResolvedEvent,
  places: Pick<Places, 'positionOf'>,
): StoredEvent {
  if (!event) throw new Error('EventStoreDB sent a link that leads nowhere, although links are not followed')
  const { streamId, id, type, revision, position, isJson, data, metadata } = event
  if (!isJson || !isMetadata(metadata) || typeof data !== 'object') {
    throw new Error(`the event ${id} of ${streamId} was not written by this service`)
  }
  const at = { stream: streamId, revision: Number(revision), id, type, data }
  const known: StoredMetadata = metadata
  if (known.position === undefined) {
    return { ...at, position: places.positionOf(safePosition(position?.commit)), metadata }
  }
  const { position: copied, ...own } = known
  return { ...at, position: copied, metadata: own }
}

/** The commit position as a number. The log would have to hold 8 PiB before it was too large for that. */
export function safePosition(commit: bigint | undefined): number {
  const position = Number(commit)
  if (!Number.isSafeInteger(position)) throw new Error(`the position ${commit} is not a safe integer`)
  return position
}

/** Evaluated by the server. */
export function serverFilter({ categories }: LogFilter): Filter {
  const maxSearchWindow = searchWindow
  if (!categories) return streamNameFilter({ regex: `^(?!${ownStreams})[^$]`, maxSearchWindow })
  return streamNameFilter({ prefixes: categories.map((category) => `${category}-`), maxSearchWindow })
}

/** The names of the server's own streams begin with a dollar sign. */
export function isOfTheLog(stream: string): boolean {
  return !stream.startsWith('$') && !stream.startsWith(ownStreams)
}

/** `position` is that of an event which was copied from another store. */
type StoredMetadata = EventMetadata & { readonly position?: number }

/** All that `append` writes carries these; the rest needs no check, for the server does not change events. */
function isMetadata(metadata: unknown): metadata is StoredMetadata {
  if (typeof metadata !== 'object' || metadata === null) return false
  return 'merchant' in metadata && 'correlation' in metadata
}
