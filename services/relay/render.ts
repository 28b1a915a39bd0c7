import { LRUCache } from 'lru-cache'
import { derivedId, publicId } from '../../packages/contract/identity.ts'
import type { PublicSource } from '../../packages/contract/public-events.ts'
import { unixSeconds } from '../../packages/contract/vocabulary.ts'
import type { WebhookType } from '../../packages/contract/webhook-types.ts'
import { categoryOf, evolve, type AnyDecider } from '../../packages/kernel/decider.ts'
import { foldStored, recordedEvent, snapshotOf } from '../../packages/kernel/history.ts'
import type { PublicEvent } from '../../packages/kernel/message-ports.ts'
import { noStream, type EventStore, type Snapshots, type StoredEvent } from '../../packages/kernel/ports.ts'
import type { RecordedEvent } from '../../packages/kernel/projection.ts'

export interface RenderedEvent extends PublicEvent {
  /** RFC 3339. */
  readonly createdAt: string
}

type Place = Pick<StoredEvent, 'stream' | 'revision'>

interface KnownDocument {
  state: unknown
  revision: number
}

const statesMaxDefault = 5_000
const ids = 'b6c8f9d2-2a57-5f0c-8e9b-4d1a7c3e5f68'
const apiVersion = 'v1'

/** The public id of the event that merchants get for a domain event. */
function publicEventId(eventId: string): string {
  return publicId('evt', derivedId(ids, eventId))
}

export interface RendererOptions {
  readonly sources: readonly PublicSource[]
  readonly store: EventStore
  readonly snapshots: Snapshots
  /** Streams whose state is kept in memory. */
  readonly statesMax?: number
}

/** Turns domain events into public ones: the resource as it was when the event happened. */
export class Renderer {
  readonly #sources: ReadonlyMap<string, PublicSource>
  readonly #store: EventStore
  readonly #snapshots: Snapshots
  readonly #known: LRUCache<string, KnownDocument>

  constructor({ sources, store, snapshots, statesMax = statesMaxDefault }: RendererOptions) {
    this.#sources = new Map(sources.map((source) => [source.decider.category, source]))
    this.#store = store
    this.#snapshots = snapshots
    this.#known = new LRUCache({ max: statesMax })
  }

  get categories(): readonly string[] {
    return [...this.#sources.keys()]
  }

  /**
   * Loads at once what the events go on from and is not in memory: one after the other, a relay that is
   * behind would stay behind. What cannot be loaded is found out again by `render`, for its event alone.
   */
  async prepare(events: readonly StoredEvent[]): Promise<void> {
    const first = new Map<string, StoredEvent>()
    for (const event of events) if (!first.has(event.stream)) first.set(event.stream, event)
    const loading: Promise<unknown>[] = []
    for (const { stream, revision } of first.values()) {
      const source = this.#sources.get(categoryOf(stream))
      const before = { stream, revision: revision - 1 }
      const isKnown = revision === 0 || this.#known.get(stream)?.revision === before.revision
      if (source && !isKnown) loading.push(this.#stateAt(source.decider, before))
    }
    await Promise.allSettled(loading)
  }

  /** `undefined` for what merchants are not told. */
  async render(stored: StoredEvent): Promise<RenderedEvent | undefined> {
    const source = this.#sources.get(categoryOf(stored.stream))
    if (!source) return undefined
    const event = recordedEvent(source.decider, stored)
    const known = this.#follow(source.decider, event)
    const type = source.typeOf(event)
    if (!type) return undefined
    const state = known ?? (await this.#stateAt(source.decider, event))
    const data = source.view(event.id, state as never, event)
    if (data === undefined) throw new Error(`${stored.stream} shows nothing at revision ${event.revision}`)
    return this.#publicEvent({ source, event, type, data })
  }

  /** The state after the event, when the state before it is in memory. */
  #follow(decider: AnyDecider, event: RecordedEvent): unknown {
    const known =
      event.revision === 0 ? { state: decider.initial(), revision: noStream } : this.#known.get(event.stream)
    if (known?.revision !== event.revision - 1) return undefined
    known.state = evolve(decider, known.state, event, event.metadata)
    known.revision = event.revision
    this.#known.set(event.stream, known)
    return known.state
  }

  async #stateAt(decider: AnyDecider, { stream, revision }: Place): Promise<unknown> {
    const snapshot = await snapshotOf(this.#snapshots, decider, stream)
    const known = this.#known.get(stream)
    const start = [known, snapshot].find((one) => one !== undefined && one.revision <= revision)
    const from = (start?.revision ?? noStream) + 1
    const events = await this.#store.readStream(stream, from, revision - from + 1)
    const state = foldStored(decider, events, start ? start.state : decider.initial())
    this.#known.set(stream, { state, revision })
    return state
  }

  #publicEvent({ source, event, type, data }: Rendering): RenderedEvent {
    const { merchant, livemode, at, traceparent } = event.metadata
    const id = publicEventId(event.eventId)
    const sequence = event.position
    const payload = JSON.stringify({
      id,
      type,
      created: unixSeconds(at),
      livemode,
      api_version: apiVersion,
      sequence,
      data,
    })
    return {
      id,
      type,
      merchant,
      livemode,
      resource: `${source.resource}/${event.id}`,
      sequence,
      payload,
      createdAt: at,
      ...(traceparent && { traceparent }),
    }
  }
}

interface Rendering {
  readonly source: PublicSource
  readonly event: RecordedEvent
  readonly type: WebhookType
  readonly data: unknown
}
