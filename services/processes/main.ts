import { setTimeout as pause } from 'node:timers/promises'
import type pg from 'pg'
import { Checkpoints } from '../../infra/postgres/checkpoints.ts'
import type { Reign } from '../../infra/postgres/leader.ts'
import { ParkedEvents } from '../../infra/postgres/parked.ts'
import type { House } from '../../packages/contract/routes.ts'
import type { AnyDecider } from '../../packages/kernel/decider.ts'
import type { Order } from '../../packages/kernel/policy.ts'
import type { EventStore, StoredEvent, Subscription, Timers } from '../../packages/kernel/ports.ts'
import { runTimers } from './due-timers.ts'
import { PolicyRunner } from './policies.ts'
import type { Owner, Process, Tools } from './process.ts'
import { retryReactions, startReactions, type ReactionRunnerOptions } from './reactions.ts'

const batchSize = 1_000
const wishesEveryMs = 500

export interface ProcessesOptions {
  readonly house: House
  readonly pool: pg.Pool
  readonly deciders: readonly AnyDecider[]
  readonly processes: readonly Process[]
  readonly timers: Timers
  /** Of the one process that may do this. */
  readonly reign?: Pick<Reign, 'fence' | 'assertLeading'>
}

/** Starts policies, reactions, timers and the callbacks of payment rails. */
export async function startProcesses(options: ProcessesOptions): Promise<Subscription> {
  const { house, pool, processes, reign } = options
  const assertLeading = () => reign?.assertLeading()
  const deciders = new Map(options.deciders.map((decider) => [decider.category, decider]))
  const checkpoints = new Checkpoints(pool, reign?.fence)
  const tools = toolsOf(house)
  const stop = new AbortController()

  const orders = new ParkedEvents(pool, 'policies', reign?.fence)
  await orders.load()
  const policies = processes.flatMap((process) => process.policies)
  const runner = new PolicyRunner({ policies, deciders, executor: house.executor, parked: orders, log: house.log })
  const policySubscription = await subscribePolicies(house, checkpoints, runner)

  const events = new ParkedEvents(pool, 'reactions', reign?.fence)
  await events.load()
  const { store, log } = house
  const reactions = { processes, deciders, store, checkpoints, parked: events, tools, log, assertLeading }
  const reactionSubscription = await startReactions(reactions)

  const timers = runTimers({ processes, timers: options.timers, tools, log, assertLeading }, stop.signal)
  const callbacks = house.rail.onCallback(async (callback) => {
    assertLeading()
    for (const process of processes) await process.callbacks?.[callback.kind]?.(callback, tools)
  })
  const wishes = grantWishes({ runner, orders, reactions, store }, stop.signal)

  const close = async () => {
    stop.abort()
    await Promise.all([policySubscription.close(), reactionSubscription.close(), callbacks.close(), timers, wishes])
  }
  return { close }
}

/** Sends what policies order about every event of the log, from the checkpoint on. */
export async function subscribePolicies(
  { store, log }: House,
  checkpoints: Pick<Checkpoints, 'load' | 'save'>,
  runner: PolicyRunner,
): Promise<Subscription> {
  const { position } = await checkpoints.load('policies')
  return store.subscribe({
    after: position,
    batchSize,
    onError: (error) => log.warn({ error }, 'policies are tried again'),
    async handle(events, through) {
      await runner.handle(events)
      await checkpoints.save('policies', through)
    },
  })
}

export function toolsOf(house: House): Tools {
  return { house, send: (order, owner, actor) => sendFor(house, order, { ...owner, actor }) }
}

async function sendFor(house: House, { decider, id, command }: Order, owner: Owner & { readonly actor: string }): Promise<unknown> {
  return house.executor.sendAll(decider, id, [{ command, envelope: { ...owner, correlation: house.newId() } }])
}

interface Wishes {
  readonly runner: PolicyRunner
  readonly orders: ParkedEvents
  readonly reactions: ReactionRunnerOptions
  readonly store: EventStore
}

/** Tries parked work again when the command line asks for it. */
async function grantWishes({ runner, orders, reactions, store }: Wishes, signal: AbortSignal): Promise<void> {
  const { log, parked } = reactions
  while (!signal.aborted) {
    try {
      for (const target of await orders.wishes()) await retryOrders({ runner, orders, store, target })
      for (const stream of await parked.wishes()) await retryReactions(reactions, stream)
    } catch (error) {
      log.warn({ error }, 'parked work stays parked')
    }
    await pause(wishesEveryMs, undefined, { signal }).catch(() => undefined)
  }
}

interface Retry extends Omit<Wishes, 'reactions'> {
  readonly target: string
}

async function retryOrders({ runner, orders, store, target }: Retry): Promise<void> {
  for (const place of await orders.eventsOf(target)) {
    const events: readonly StoredEvent[] = await store.readStream(place.stream, place.revision, 1)
    await runner.retry(target, events)
    await orders.release(target, place)
  }
}
