import { isOwned } from '../../../../packages/kernel/owner.ts'
import type { EventMetadata, NewEvent, StoredEvent } from '../../../../packages/kernel/ports.ts'
import type { ProposedEvent } from './append.ts'
import { parsed } from './json-bytes.ts'
import type { History } from '../history.ts'
import type { ServerEvent } from './read.ts'
import type { StreamNames } from '../streams/names.ts'

/** What PostgreSQL takes in a question for it. */
const keyName = /^[\w.-]{1,200}$/
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

/** The same event with the revision that it has among ours, where the server's is another. */
export function withRevision(event: ProposedEvent, revision: number): ProposedEvent {
  return { ...event, metadata: `{"revision":${revision},${event.metadata.slice(1)}` }
}

/** One of our events as the service knows it; undefined when this service has not written it. */
export function storedEvent(
  { stream: onServer, revision, commit, id, type, ...content }: ServerEvent,
  { names, history }: { readonly names: StreamNames; readonly history: Pick<History, 'positionOf'> },
): StoredEvent | undefined {
  const stream = names.ours(onServer)
  const written = content.isJson ? parsed(content.metadata) : undefined
  if (stream === undefined || !isMetadata(written)) return undefined
  const data = parsed(content.data)
  if (!isObject(data)) return undefined
  const position = history.positionOf(safePosition(commit), written.position)
  const own = ownRevision(revision, written.revision)
  if (position === undefined || own === undefined) return undefined
  const isAsGiven = !('position' in written || 'revision' in written)
  return { stream, revision: own, id, type, data, position, metadata: isAsGiven ? written : asGiven(written) }
}

/** Others can only have moved it towards the end of the stream. */
function ownRevision(onServer: number, claimed: unknown): number | undefined {
  if (claimed === undefined) return onServer
  const isPossible = Number.isSafeInteger(claimed) && (claimed as number) >= 0
  return isPossible && (claimed as number) <= onServer ? (claimed as number) : undefined
}

/** The log would have to exceed 8 PiB before a position was too large for a number. */
export function safePosition(commit: number): number {
  if (!Number.isSafeInteger(commit)) throw new Error(`the position ${commit} is not a safe integer`)
  return commit
}

type StoredMetadata = EventMetadata & {
  /** That of an event that was copied from another store. */
  readonly position?: unknown
  /** Among ours, where others have written before into the same stream. */
  readonly revision?: unknown
}

function asGiven({ position, revision, ...metadata }: StoredMetadata): EventMetadata {
  return metadata
}

/** What every one of our events carries, and hardly another program's; the server does not change events. */
function isMetadata(metadata: unknown): metadata is StoredMetadata {
  if (!isObject(metadata)) return false
  const { correlation, version, actor, at } = metadata
  return (
    typeof correlation === 'string' &&
    Number.isSafeInteger(version) &&
    typeof actor === 'string' &&
    typeof at === 'string' &&
    !Number.isNaN(Date.parse(at)) &&
    isOwned(metadata) &&
    texts.every((name) => metadata[name] === undefined || typeof metadata[name] === 'string') &&
    isSealed(metadata) &&
    isCaused(metadata)
  )
}

const texts = ['salt', 'request', 'traceparent', 'idempotencyKey', 'fingerprint']

/** Whoever opens it asks the database for this key. */
function isSealed({ sealed, salt }: Fields): boolean {
  if (sealed === undefined) return true
  if (!isObject(sealed) || salt === undefined) return false
  const { key, box, digest } = sealed
  const isKey = typeof key === 'string' && keyName.test(key)
  return isKey && typeof box === 'string' && (digest === undefined || typeof digest === 'string')
}

function isCaused({ causation }: Fields): boolean {
  if (causation === undefined) return true
  if (!isObject(causation)) return false
  const { event, position, policy } = causation
  return typeof event === 'string' && Number.isSafeInteger(position) && typeof policy === 'string'
}

type Fields = Readonly<Record<string, unknown>>

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
