import type pg from 'pg'
import type { GiveWay } from '../../infra/event-loop/turns.ts'
import { Checkpoints } from '../../infra/postgres/consumers/checkpoints.ts'
import type { TermFence } from '../../infra/postgres/consumers/fence.ts'
import { ParkedEvents, type ParkedPlace } from '../../infra/postgres/consumers/parked.ts'
import { parkedEvent, pollRetryRequests } from '../../infra/postgres/consumers/retries.ts'
import { EventFeed, type UnnumberedEvent } from '../../infra/postgres/webhooks/event-feed.ts'
import type { PublicSource } from '../../packages/contract/webhooks/public-events.ts'
import type { EventBus } from '../../packages/kernel/ports/messages.ts'
import type { EventStore, Log, Snapshots, StoredEvent, Subscription } from '../../packages/kernel/ports.ts'
import { isPassing } from '../composition/observing/failures.ts'
import { Renderer } from './render.ts'
import { logEnds } from './log-ends.ts'

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
  /** The fence of the one relay that may write. */
  readonly fence?: TermFence
  readonly giveWay?: GiveWay
}

interface Relay extends Subscription {
  /** Drops cached states: what they were folded from may read otherwise now. */
  forget(): void
}

/**
 * Event store -> public events -> bus. Public events are numbered and stored before they are published, and
 * the checkpoint moves once the bus has them: after a crash in between the same events are published again,
 * with the same ids. A deposed relay does the same; consumers recognise repeats.
 */
export async function startRelay(options: RelayOptions): Promise<Relay> {
  const { pool, store, sources, log, fence, snapshots, giveWay } = options
  const checkpoints = new Checkpoints(pool, fence)
  const parked = new ParkedEvents(pool, consumer, fence)
  await parked.load()
  const renderer = new Renderer({ sources, store, snapshots })
  const told = { feed: new EventFeed({ pool, fence }), bus: options.bus }
  const { position } = await checkpoints.load(consumer)
  const subscription = store.subscribe({
    after: position,
    categories: renderer.categories,
    batchSize,
    everyMs,
    onError: (error) => log.warn({ error }, 'relaying is tried again'),
    async handle(events, through) {
      const rendered = await renderAll({ renderer, parked, log, giveWay }, events)
      if (rendered.length === 0) return checkpoints.passed(consumer, through)
      await tell(told, rendered)
      logEnds(log, rendered)
      await checkpoints.save(consumer, through)
      await renderer.keepSnapshots()
    },
  })
  const stop = new AbortController()
  const retry = async (_: string, place: ParkedPlace) => {
    const late = await renderer.render(await parkedEvent(store, place))
    if (late) await tell(told, [late])
  }
  const retryRequests = pollRetryRequests([{ parked, retry }], log, stop.signal)
  const close = async () => {
    stop.abort()
    await Promise.all([subscription.close(), retryRequests])
    await checkpoints.close()
  }
  return { close, forget: () => renderer.forget() }
}

interface Telling {
  readonly feed: EventFeed
  readonly bus: EventBus
}

/** Sequences are assigned when events are told: one that was parked follows those told meanwhile. */
async function tell({ feed, bus }: Telling, rendered: readonly UnnumberedEvent[]): Promise<void> {
  if (rendered.length > 0) await bus.publish(await feed.keep(rendered))
}

interface Rendering {
  readonly renderer: Renderer
  readonly parked: ParkedEvents
  readonly log: Log
  readonly giveWay: GiveWay | undefined
}

async function renderAll(
  { renderer, parked, log, giveWay }: Rendering,
  events: readonly StoredEvent[],
): Promise<readonly UnnumberedEvent[]> {
  await renderer.prepare(events)
  const rendered: UnnumberedEvent[] = []
  for (const event of events) {
    await giveWay?.()
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
