import type pg from 'pg'
import type { GiveWay } from '../../../infra/event-loop/turns.ts'
import { Checkpoints } from '../../../infra/postgres/consumers/checkpoints.ts'
import type { LeaderTerm } from '../../../infra/postgres/consumers/leader.ts'
import { ParkedEvents } from '../../../infra/postgres/consumers/parked.ts'
import { parkedEvent, pollRetryRequests, type Retry } from '../../../infra/postgres/consumers/retries.ts'
import type { Dependencies } from '../../../packages/contract/routes.ts'
import type { AnyDecider } from '../../../packages/kernel/decider.ts'
import type { Subscription } from '../../../packages/kernel/ports.ts'
import type { AnyPolicy } from '../../../packages/kernel/policy.ts'
import { PolicyRunner } from './policies.ts'
import type { Process, Tools } from './process.ts'
import { retryReaction, startReactions, type ReactionRunnerOptions } from './reactions.ts'

const batchSize = 1_000
const everyMs = 25

export interface ProcessesOptions {
  readonly dependencies: Dependencies
  readonly pool: pg.Pool
  readonly deciders: readonly AnyDecider[]
  readonly policies: readonly AnyPolicy[]
  readonly processes: readonly Process[]
  /** The fence of the one process that may do this. */
  readonly term?: Pick<LeaderTerm, 'fence' | 'assertLeading'>
  readonly giveWay?: GiveWay
}

/** Starts policies, reactions and the callbacks of payment rails. */
export async function startProcesses(options: ProcessesOptions): Promise<Subscription> {
  const { dependencies, pool, processes, term } = options
  const { log } = dependencies
  const doing = { tools: toolsOf(dependencies), assertLeading: () => term?.assertLeading() }
  await dependencies.movedClocks.follow()
  const checkpoints = new Checkpoints(pool, term?.fence)
  const { subscriptions, retries } = await followLog(options, { ...doing, checkpoints })
  const stop = new AbortController()
  const callbacks = dependencies.rail.onCallback(async (callback) => {
    doing.assertLeading()
    for (const process of processes) await process.callbacks?.[callback.kind]?.(callback, doing.tools)
  })
  const retryRequests = pollRetryRequests(retries, log, stop.signal)
  const close = async () => {
    stop.abort()
    const closed = [...subscriptions, callbacks].map((subscription) => subscription.close())
    await Promise.all([...closed, retryRequests])
    await checkpoints.close()
  }
  return { close }
}

interface Doing extends Pick<ReactionRunnerOptions, 'tools' | 'assertLeading'> {
  readonly checkpoints: Checkpoints
}

interface Following {
  readonly subscriptions: readonly Subscription[]
  readonly retries: readonly Retry[]
}

/** Policies and reactions: what follows from events. */
async function followLog(options: ProcessesOptions, doing: Doing): Promise<Following> {
  const { dependencies, pool, policies, processes, term, giveWay } = options
  const { store, executor, log } = dependencies
  const deciders = new Map(options.deciders.map((decider) => [decider.category, decider]))
  const { checkpoints } = doing
  const orders = new ParkedEvents(pool, 'policies', term?.fence)
  const events = new ParkedEvents(pool, 'reactions', term?.fence)
  await Promise.all([orders.load(), events.load()])

  const sending = { policies, deciders, executor, parked: orders, log, ...(giveWay && { giveWay }) }
  const runner = new PolicyRunner(sending)
  const following = await subscribePolicies(dependencies, checkpoints, runner)
  const reactions = { processes, deciders, store, parked: events, log, ...doing }
  const reacting = await startReactions(reactions).catch(async (error: unknown) => {
    await following.close()
    throw error
  })
  const retryOrders: Retry = {
    parked: orders,
    retry: async (target, place) => runner.retry(target, await parkedEvent(store, place)),
  }
  const retryReactions: Retry = { parked: events, retry: (_, place) => retryReaction(reactions, place) }
  return { subscriptions: [following, reacting], retries: [retryOrders, retryReactions] }
}

/** Sends the commands of policies for every event of the log after the checkpoint. */
export async function subscribePolicies(
  { store, log }: Dependencies,
  checkpoints: Pick<Checkpoints, 'load' | 'save' | 'passed'>,
  runner: PolicyRunner,
): Promise<Subscription> {
  const { position } = await checkpoints.load('policies')
  return store.subscribe({
    after: position,
    batchSize,
    everyMs,
    onError: (error) => log.warn({ error }, 'policies are tried again'),
    async handle(events, through) {
      const followed = events.filter(({ type }) => runner.follows(type))
      if (followed.length === 0) return checkpoints.passed('policies', through)
      await runner.handle(followed)
      await checkpoints.save('policies', through)
    },
  })
}

export function toolsOf(dependencies: Dependencies): Tools {
  const sendAll: Tools['sendAll'] = ([first, ...others], owner, actor) => {
    const { decider, id } = first
    const envelope = { actor, correlation: dependencies.newId(), ...owner }
    const commands = [first, ...others].map(({ command }) => ({ command, envelope }))
    return dependencies.executor.sendAll(decider, id, commands)
  }
  return { dependencies, sendAll, send: (order, owner, actor) => sendAll([order], owner, actor) }
}
