import type pg from 'pg'
import { Checkpoints } from '../../infra/postgres/consumers/checkpoints.ts'
import { fenced, type Fence } from '../../infra/postgres/consumers/fence.ts'
import { pollRetryRequests, ParkedEvents, type ParkedPlace } from '../../infra/postgres/consumers/parked.ts'
import { keepPublicEvents } from '../../infra/postgres/webhooks/public-events.ts'
import type { PublicSource } from '../../packages/contract/public-events.ts'
import type { EventBus } from '../../packages/kernel/message-ports.ts'
import type { EventStore, Log, Snapshots, StoredEvent, Subscription } from '../../packages/kernel/ports.ts'
import { isPassing } from '../composition/failures.ts'
import { Renderer, type RenderedEvent } from './render.ts'

const batchSize = 2_000
const everyMs = 50
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
  const { pool, store, sources, log, fence, snapshots } = options
  const checkpoints = new Checkpoints(pool, fence)
  const parked = new ParkedEvents(pool, consumer, fence)
  await parked.load()
  const renderer = new Renderer({ sources, store, snapshots })
  const { position } = await checkpoints.load(consumer)
  const subscription = store.subscribe({
    after: position,
    categories: renderer.categories,
    batchSize,
    everyMs,
    onError: (error) => log.warn({ error }, 'relaying is tried again'),
    async handle(events, through) {
      await tell(options, await renderAll({ renderer, parked, log }, events))
      await checkpoints.save(consumer, through)
    },
  })
  const stop = new AbortController()
  const retry = (_: string, place: ParkedPlace) => tellAgain(options, renderer, place)
  const wishes = pollRetryRequests([{ parked, retry }], log, stop.signal)
  const close = async () => {
    stop.abort()
    await Promise.all([subscription.close(), wishes])
  }
  return { close }
}

async function tell({ pool, fence, bus }: RelayOptions, rendered: readonly RenderedEvent[]): Promise<void> {
  if (rendered.length === 0) return
  await fenced(pool, fence, (connection) => keepPublicEvents(connection, rendered))
  await bus.publish(rendered)
}

/** An event that was parked is told late: behind others that came after it. */
async function tellAgain(
  options: RelayOptions,
  renderer: Renderer,
  { stream, revision }: ParkedPlace,
): Promise<void> {
  const [event] = await options.store.readStream(stream, revision, 1)
  const rendered = await renderer.render(event!)
  if (rendered) await tell(options, [rendered])
}

interface Rendering {
  readonly renderer: Renderer
  readonly parked: ParkedEvents
  readonly log: Log
}

async function renderAll(
  { renderer, parked, log }: Rendering,
  events: readonly StoredEvent[],
): Promise<readonly RenderedEvent[]> {
  await renderer.prepare(events)
  const rendered: RenderedEvent[] = []
  for (const event of events) {
    const { stream, revision, position, id, type } = event
    const places = [{ stream, revision, position, eventId: id, type }]
    if (parked.has(stream) && (await parked.parkBehind(stream, places))) continue
    try {
      const one = await renderer.render(event)
      if (one) rendered.push(one)
    } catch (error) {
      if (isPassing(error)) throw error
      log.error({ stream, revision, type, error }, 'parked')
      await parked.park(stream, places, String(error))
    }
  }
  return rendered
}
