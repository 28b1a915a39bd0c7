import { publicEventId } from '../../packages/contract/identity.ts'
import type { PublicSource } from '../../packages/contract/webhooks/public-events.ts'
import { unixSeconds } from '../../packages/contract/vocabulary.ts'
import type { WebhookType } from '../../packages/contract/webhooks/webhook-types.ts'
import { categoryOf } from '../../packages/kernel/decider.ts'
import { recordedEvent } from '../../packages/kernel/history.ts'
import type { StoredEvent } from '../../packages/kernel/ports.ts'
import type { RecordedEvent } from '../../packages/kernel/projection.ts'
import type { UnnumberedEvent } from '../../infra/postgres/webhooks/event-feed.ts'
import { StatesBehind, type StatesOptions } from './states.ts'

const apiVersion = 'v1'

export interface RendererOptions extends StatesOptions {
  readonly sources: readonly PublicSource[]
}

/** Turns domain events into public ones: the resource as it was when the event happened. */
export class Renderer {
  readonly #sources: ReadonlyMap<string, PublicSource>
  readonly #states: StatesBehind

  constructor(options: RendererOptions) {
    this.#sources = new Map(options.sources.map((source) => [source.decider.category, source]))
    this.#states = new StatesBehind(options)
  }

  get categories(): readonly string[] {
    return [...this.#sources.keys()]
  }

  /**
   * Preloads what is not cached in one go: one by one, a relay that is behind would stay behind. What cannot
   * be loaded is found out again by `render`, for its event alone.
   */
  async prepare(events: readonly StoredEvent[]): Promise<void> {
    const first = new Map<string, StoredEvent>()
    for (const event of events) if (!first.has(event.stream)) first.set(event.stream, event)
    const loading: Promise<unknown>[] = []
    for (const { stream, revision } of first.values()) {
      const source = this.#sources.get(categoryOf(stream))
      const before = { stream, revision: revision - 1 }
      if (source && !this.#states.isKnown(before)) loading.push(this.#states.at(source.decider, before))
    }
    await Promise.allSettled(loading)
  }

  /** `undefined` for what merchants are not told. */
  async render(stored: StoredEvent): Promise<UnnumberedEvent | undefined> {
    const source = this.#sources.get(categoryOf(stored.stream))
    if (!source) return undefined
    const event = recordedEvent(source.decider, stored)
    const known = this.#states.follow(source.decider, event)
    const type = source.typeOf(event)
    if (!type) return undefined
    const state = known ?? (await this.#states.at(source.decider, event))
    const data = source.view(event.id, state as never, event)
    if (data === undefined) throw new Error(`${stored.stream} shows nothing at revision ${event.revision}`)
    return publicEvent({ source, event, type, data })
  }

  forget(): void {
    this.#states.forget()
  }

  /** Call it when the checkpoint has moved past everything that was rendered. */
  keepSnapshots(): Promise<void> {
    return this.#states.keepSnapshots()
  }
}

function publicEvent({ source, event, type, data }: Rendering): UnnumberedEvent {
  const { merchant, livemode, at, traceparent } = event.metadata
  const id = publicEventId(event.eventId)
  const created = unixSeconds(at)
  return {
    id,
    type,
    merchant,
    livemode,
    resource: `${source.resource}/${event.id}`,
    position: event.position,
    createdAt: at,
    payload: (sequence) =>
      JSON.stringify({ id, type, created, livemode, api_version: apiVersion, sequence, data }),
    ...(traceparent && { traceparent }),
  }
}

interface Rendering {
  readonly source: PublicSource
  readonly event: RecordedEvent
  readonly type: WebhookType
  readonly data: unknown
}
