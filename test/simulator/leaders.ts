import { answerRequests, type Retry } from '../../infra/postgres/consumers/retries.ts'
import { Projector } from '../../infra/postgres/read-models/projector.ts'
import type { StoredEvent, Subscription } from '../../packages/kernel/ports.ts'
import { readModels } from '../../projections/index.ts'
import { deciders, policies, publicSources } from '../../packages/domain/index.ts'
import type { UnnumberedEvent } from '../../infra/postgres/webhooks/event-feed.ts'
import type { PublicEvent } from '../../packages/kernel/ports/messages.ts'
import { runDue } from '../../services/processes/runner/due-timers.ts'
import { processes } from '../../services/families.ts'
import { subscribePolicies, toolsOf } from '../../services/processes/runner/main.ts'
import { PolicyRunner } from '../../services/processes/runner/policies.ts'
import { retryReaction, startReactions } from '../../services/processes/runner/reactions.ts'
import { Renderer } from '../../services/relay/render.ts'
import {
  assertLeading,
  simulatedCheckpoints,
  simulatedParked,
  simulatedTimers,
  type Rule,
} from './consumers.ts'
import { simulatedPool } from './engines/pool.ts'
import { streamsMax } from './dependencies.ts'
import type { SimulatedProcess } from './process.ts'

export const roles = ['processes', 'projector', 'relay'] as const
export type Role = (typeof roles)[number]

/** What a leader runs, and what it can be told to do. */
export interface Work extends Subscription {
  /** Looks once for timers that are due; false when it is still at it. */
  look?(): boolean
}

export interface LeaderWork {
  readonly process: SimulatedProcess
  readonly rule: Rule
}

export const work: Readonly<Record<Role, (leading: LeaderWork) => Promise<Work>>> = {
  processes: runProcesses,
  projector: runProjector,
  relay: runRelay,
}

const decidersByCategory = new Map(deciders.map((decider) => [decider.category, decider]))

/** As processes/runner/main.ts puts it together; timers are looked at when the simulation says so. */
async function runProcesses({ process, rule }: LeaderWork): Promise<Work> {
  const { dependencies, world } = process
  const { stage, notebook } = world
  const tools = toolsOf(dependencies)
  const { store, log } = dependencies
  const checkpoints = simulatedCheckpoints(notebook, rule)
  const parkedOrders = simulatedParked(stage, notebook, { ...rule, role: 'policies' })
  const options = {
    policies,
    deciders: decidersByCategory,
    executor: dependencies.executor,
    parked: parkedOrders,
    log,
  }
  const runner =
    stage.mistake === 'checkpoint before work'
      ? new HastyRunner(options, (through) => checkpoints.save('policies', through))
      : new PolicyRunner(options)
  const leading = () => assertLeading(rule)
  const parked = simulatedParked(stage, notebook, { ...rule, role: 'reactions' })
  const deciding = { deciders: decidersByCategory, store, checkpoints }
  const reactions = { processes, parked, tools, log, ...deciding, assertLeading: leading }
  const retries: Retry = { parked, retry: (_, place) => retryReaction(reactions, place) }
  const subscriptions = await Promise.all([
    subscribePolicies(dependencies, checkpoints, runner),
    startReactions(reactions),
  ])
  const callbacks = dependencies.rail.onCallback(async (callback) => {
    leading()
    for (const each of processes) await each.callbacks?.[callback.kind]?.(callback, tools)
  })
  const timers = simulatedTimers(notebook, world.database, rule)
  let looking = false
  const look = () => {
    if (looking) return false
    looking = true
    runDue({ processes, timers, tools, log, assertHeld: leading })
      .then(() => answerRequests(retries, log))
      .catch((error: unknown) => log.warn({ error }, 'timers are tried again'))
      .finally(() => (looking = false))
    return true
  }
  return { look, close: () => closeAll([...subscriptions, callbacks]) }
}

/** A mistake: what is noted as done is lost with the process that was about to do it. */
class HastyRunner extends PolicyRunner {
  readonly #save: (through: number) => Promise<void>

  constructor(
    options: ConstructorParameters<typeof PolicyRunner>[0],
    save: (through: number) => Promise<void>,
  ) {
    super(options)
    this.#save = save
  }

  override async handle(events: readonly StoredEvent[]): Promise<void> {
    await this.#save(events.at(-1)!.position)
    await super.handle(events)
  }
}

/** As few states as a batch may need. */
const projectedMax = 50

/** As services/projector/main.ts, for read models that are all published. */
async function runProjector({ process, rule }: LeaderWork): Promise<Work> {
  const {
    dependencies: { store, log },
    world: { stage, database },
  } = process
  const { life } = process
  const fence = stage.mistake === 'projector without fence' ? undefined : () => assertLeading(rule)
  const pool = simulatedPool({ stage, database, life, fence })
  const projector = new Projector({ pool, store, deciders, log, statesMax: projectedMax })
  const tracks = await Promise.all(readModels.map((model) => projector.open(model, 1)))
  return store.subscribe({
    after: Math.min(...tracks.map(({ position }) => position)),
    batchSize: 5_000,
    handle: (batch, through) => projector.apply(tracks, batch, through),
    onError: (error) => log.warn({ error }, 'projecting is tried again'),
  })
}

/** As services/relay/main.ts: public events are kept, then published, then the checkpoint moves. */
async function runRelay({ process, rule }: LeaderWork): Promise<Work> {
  const {
    dependencies: { store, log },
    world: { stage, notebook, bus },
    life,
  } = process
  const checkpoints = simulatedCheckpoints(notebook, rule)
  const { snapshots } = process.world
  const renderer = new Renderer({ sources: publicSources, store, snapshots, statesMax: streamsMax })
  const { position } = await checkpoints.load('relay')
  return store.subscribe({
    after: position,
    categories: renderer.categories,
    batchSize: 500,
    onError: (error) => log.warn({ error }, 'relaying is tried again'),
    async handle(events, through) {
      const rendered: PublicEvent[] = []
      for (const event of events) {
        const one = await renderer.render(event)
        if (one) rendered.push(numbered(one))
      }
      if (rendered.length > 0) await stage.scheduler.call(life, () => bus.publish(rendered))
      await checkpoints.save('relay', through)
    },
  })
}

/** There is no feed here: the log's own order numbers what is told. */
export function numbered(event: UnnumberedEvent): PublicEvent {
  return { ...event, sequence: event.position, payload: event.payload(event.position) }
}

async function closeAll(subscriptions: readonly Subscription[]): Promise<void> {
  await Promise.all(subscriptions.map((subscription) => subscription.close()))
}
