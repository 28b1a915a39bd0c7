import type pg from 'pg'
import { Checkpoints } from '../../infra/postgres/checkpoints.ts'
import { fenced, type Fence } from '../../infra/postgres/fenced.ts'
import { ParkedEvents } from '../../infra/postgres/parked.ts'
import { keepPublicEvents } from '../../infra/postgres/public-events.ts'
import type { EventBus, EventStore, Log, Snapshots, StoredEvent, Subscription } from '../../packages/kernel/ports.ts'
import { Renderer, type PublicSource, type RenderedEvent } from './render.ts'

const batchSize = 500
const consumer = 'relay'

export interface RelayOptions {
  readonly pool: pg.Pool
  readonly store: EventStore
  readonly snapshots: Snapshots
  readonly bus: EventBus
  readonly sources: readonly PublicSource[]
  readonly log: Log
  /** Of the one relay that may write. */
  readonly fence?: Fence
}

/**
 * Event store -> public events -> bus. Public events are kept in the order of the log before they are
 * published, and the checkpoint moves when the bus has them: a crash in between publishes the same events,
 * with the same ids, again. So does a relay that is deposed in between; whoever consumes them knows them.
 */
export async function startRelay(options: RelayOptions): Promise<Subscription> {
  const { pool, store, snapshots, bus, sources, log, fence } = options
  const checkpoints = new Checkpoints(pool, fence)
  const parked = new ParkedEvents(pool, consumer, fence)
  await parked.load()
  const renderer = new Renderer({ sources, store, snapshots })
  const { position } = await checkpoints.load(consumer)
  return store.subscribe({
    after: position,
    categories: renderer.categories,
    batchSize,
    onError: (error) => log.warn({ error }, 'relaying is tried again'),
    async handle(events, through) {
      const rendered = await renderAll({ renderer, parked, log }, events)
      if (rendered.length > 0) {
        await fenced(pool, fence, (connection) => keepPublicEvents(connection, rendered))
        await bus.publish(rendered)
      }
      await checkpoints.save(consumer, through)
    },
  })
}

interface Rendering {
  readonly renderer: Renderer
  readonly parked: ParkedEvents
  readonly log: Log
}

async function renderAll({ renderer, parked, log }: Rendering, events: readonly StoredEvent[]): Promise<readonly RenderedEvent[]> {
  const rendered: RenderedEvent[] = []
  for (const event of events) {
    const { stream, revision, position, id, type } = event
    const note = (error: string) => parked.park(stream, [{ stream, revision, position, eventId: id, type }], error)
    if (parked.has(stream)) {
      await note('an earlier event of this stream is parked')
      continue
    }
    try {
      const one = await renderer.render(event)
      if (one) rendered.push(one)
    } catch (error) {
      if ((error as { code?: unknown }).code !== undefined) throw error
      log.error({ stream, revision, type, error }, 'parked')
      await note(String(error))
    }
  }
  return rendered
}
