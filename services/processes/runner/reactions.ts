import type { Checkpoints } from '../../../infra/postgres/consumers/checkpoints.ts'
import type { ParkedEvents, ParkedPlace } from '../../../infra/postgres/consumers/parked.ts'
import { parkedEvent } from '../../../infra/postgres/consumers/retries.ts'
import { categoryOf, type AnyDecider } from '../../../packages/kernel/decider.ts'
import { recordedEvent } from '../../../packages/kernel/history.ts'
import type { EventStore, Log, StoredEvent, Subscription } from '../../../packages/kernel/ports.ts'
import type { RecordedEvent } from '../../../packages/kernel/projection.ts'
import { isOfItsOwn, isPassing } from '../../composition/observing/failures.ts'
import { forEach } from './for-each.ts'
import type { Process, Tools } from './process.ts'

const consumer = 'reactions'
const batchSize = 2_000
const everyMs = 25
const atOnce = 128

export interface ReactionRunnerOptions {
  readonly processes: readonly Process[]
  readonly deciders: ReadonlyMap<string, AnyDecider>
  readonly store: EventStore
  readonly checkpoints: Pick<Checkpoints, 'load' | 'attempt' | 'save' | 'passed'>
  readonly parked: Pick<ParkedEvents, 'has' | 'park' | 'parkBehind' | 'setAside'>
  readonly tools: Tools
  readonly log: Log
  /** Throws when another process may be leading: the work is then that process's. */
  readonly assertLeading: () => void
}

/**
 * Does what events cause in the outside world, at least once. The end of each batch is recorded before it, so
 * that after a crash events up to there are handed over as maybe done. A deposed leader submits the reference
 * that its successor submits, which a rail executes once. A silent operator holds up one stream alone.
 */
export async function startReactions(options: ReactionRunnerOptions): Promise<Subscription> {
  const { store, checkpoints, log } = options
  const { position, ...checkpoint } = await checkpoints.load(consumer)
  let { attempted } = checkpoint
  const work = reactionsByType(options.processes)
  return store.subscribe({
    after: position,
    batchSize,
    everyMs,
    onError: (error) => log.warn({ error }, 'reactions are tried again'),
    async handle(events, through) {
      const relevant = events.filter(({ type }) => work.has(type))
      const attemptedBefore = attempted
      if (relevant.length === 0) return checkpoints.passed(consumer, through)
      await checkpoints.attempt(consumer, through)
      attempted = Math.max(attempted, through)
      await forEach(relevant, atOnce, (event) => react(options, { event, work, attempted: attemptedBefore }))
      await checkpoints.save(consumer, through)
    },
  })
}

type Work = ReadonlyMap<string, readonly NonNullable<Process['reactions']>[string][]>

function reactionsByType(processes: readonly Process[]): Work {
  const work = new Map<string, NonNullable<Process['reactions']>[string][]>()
  for (const { reactions } of processes) {
    for (const [type, reaction] of Object.entries(reactions ?? {}))
      work.set(type, [...(work.get(type) ?? []), reaction])
  }
  return work
}

interface Due {
  readonly event: StoredEvent
  readonly work: Work
  readonly attempted: number
}

async function react(options: ReactionRunnerOptions, { event, work, attempted }: Due): Promise<void> {
  const { deciders, parked, tools, log, assertLeading } = options
  const { stream, revision, position, id, type } = event
  const place = { stream, revision, position, eventId: id, type }
  if (parked.has(stream) && (await parked.parkBehind(stream, [place]))) return
  assertLeading()
  try {
    const decider = deciders.get(categoryOf(stream))!
    const known = recordedEvent(decider, event) as RecordedEvent<never>
    const doAll = async () => {
      for (const reaction of work.get(type) ?? [])
        await reaction({ event: known, mayHaveRun: position <= attempted, tools })
    }
    const { tracing } = tools.dependencies
    const { traceparent: parent } = known.metadata
    await (tracing ? tracing.span({ name: `reaction ${type}`, kind: 'consumer', parent }, doAll) : doAll())
  } catch (error) {
    if (isOfItsOwn(error)) {
      log.warn({ stream, revision, type, error }, 'set aside, and tried again later')
      return parked.setAside(stream, place, String(error))
    }
    if (isPassing(error)) throw error
    log.error({ stream, revision, type, error }, 'parked')
    await parked.park(stream, [place], String(error))
  }
}

/** Retries a parked event. */
export async function retryReaction(options: ReactionRunnerOptions, place: ParkedPlace): Promise<void> {
  const { processes, deciders, store, tools, assertLeading } = options
  const work = reactionsByType(processes)
  assertLeading()
  const event = await parkedEvent(store, place)
  const known = recordedEvent(deciders.get(categoryOf(place.stream))!, event) as RecordedEvent<never>
  for (const reaction of work.get(known.type) ?? []) await reaction({ event: known, mayHaveRun: true, tools })
}
