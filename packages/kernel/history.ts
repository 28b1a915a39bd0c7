import {
  evolve,
  parseStreamName,
  streamName,
  type AnyDecider,
  type Decider,
  type Payloads,
} from './decider.ts'
import { upcast } from './event-types.ts'
import type { MerchantOwner, Owner } from './owner.ts'
import {
  noStream,
  type EventMetadata,
  type EventStore,
  type Snapshot,
  type Snapshots,
  type StoredEvent,
} from './ports.ts'
import type { RecordedEvent } from './projection.ts'

/**
 * A stored event as its decider understands it today: data of an older version is brought up to the newest.
 * The executor has seen to it that it is owned by one of those who may own such streams.
 */
export function recordedEvent<O extends Owner = MerchantOwner>(
  decider: AnyDecider,
  event: StoredEvent,
): RecordedEvent<object, O> {
  if (event.damage) throw event.damage
  const { stream, revision, position, type } = event
  const metadata = event.metadata as unknown as EventMetadata<O>
  const declaration = Object.hasOwn(decider.events, type) ? decider.events[type] : undefined
  if (!declaration)
    throw new Error(`${decider.category} knows no event ${type}, found in ${stream} at revision ${revision}`)
  const data = upcast(declaration, metadata.version, event.data)
  const { category, id } = parseStreamName(stream)
  return { stream, category, id, revision, position, type, data, metadata, eventId: event.id }
}

/** The state of a stream after more of its stored events. */
export function foldStored(
  decider: AnyDecider,
  events: Iterable<StoredEvent>,
  start: unknown = decider.initial(),
): unknown {
  let state = start
  for (const event of events) state = evolve(decider, state, recordedEvent(decider, event), event.metadata)
  return state
}

/** A stored snapshot of a stream's state; `undefined` when there is none this decider can use. */
export async function snapshotOf(
  snapshots: Pick<Snapshots, 'load'>,
  { snapshot: how }: AnyDecider,
  stream: string,
): Promise<Snapshot | undefined> {
  const kept = how && (await snapshots.load(stream, how.version))
  return kept && { ...kept, state: how.restored ? how.restored(kept.state) : kept.state }
}

/** The current state of one stream in the store; the initial state for a stream without events. */
export async function readState<S, C extends Payloads, E extends Payloads, O extends Owner>(
  store: Pick<EventStore, 'readStream'>,
  decider: Decider<S, C, E, O>,
  id: string,
): Promise<S> {
  return (await readCurrent(store, decider, id)).state
}

export interface KnownAt {
  readonly id: string
  /** Left out: the current state. */
  readonly knownAt?: Date | undefined
}

/** The state as it was known at a time: without the first event that was written later, and all behind it. */
export async function readStateKnown<S, C extends Payloads, E extends Payloads, O extends Owner>(
  store: Pick<EventStore, 'readStream'>,
  decider: Decider<S, C, E, O>,
  { id, knownAt }: KnownAt,
): Promise<S> {
  const events = await store.readStream(streamName(decider.category, id), 0)
  const at = knownAt?.toISOString()
  const unknown = at === undefined ? -1 : events.findIndex(({ metadata }) => String(metadata['at']) > at)
  return foldStored(decider, unknown < 0 ? events : events.slice(0, unknown)) as S
}

/** The same with the revision that it has. */
export async function readCurrent<S, C extends Payloads, E extends Payloads, O extends Owner>(
  store: Pick<EventStore, 'readStream'>,
  decider: Decider<S, C, E, O>,
  id: string,
): Promise<{ readonly state: S; readonly revision: number }> {
  const events = await store.readStream(streamName(decider.category, id), 0)
  // The decider's own events folded by its own `evolve`: only the erasure in `foldStored` hides that this is
  // its state.
  return { state: foldStored(decider, events) as S, revision: events.at(-1)?.revision ?? noStream }
}
