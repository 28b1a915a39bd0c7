import type { GiveWay } from '../../../infra/event-loop/turns.ts'
import type { ParkedEvent, ParkedEvents } from '../../../infra/postgres/consumers/parked.ts'
import { categoryOf, streamName, type AnyDecider } from '../../../packages/kernel/decider.ts'
import type { Executor } from '../../../packages/kernel/execution/execute.ts'
import type { PendingCommand } from '../../../packages/kernel/execution/options.ts'
import { recordedEvent } from '../../../packages/kernel/history.ts'
import { ownerOf, ownerText, type Owner } from '../../../packages/kernel/owner.ts'
import type { AnyPolicy, PolicyCommand } from '../../../packages/kernel/policy.ts'
import type { Log, StoredEvent } from '../../../packages/kernel/ports.ts'
import type { RecordedEvent } from '../../../packages/kernel/projection.ts'
import { isPassing } from '../../composition/observing/failures.ts'
import { forEach } from './for-each.ts'

/** So many streams are written to concurrently. */
const atOnce = 256

/** A policy's command with the event that caused it. */
interface CausedCommand {
  readonly order: PolicyCommand
  readonly target: string
  readonly event: StoredEvent
  readonly pending: PendingCommand
}

export interface PolicyRunnerOptions {
  readonly policies: readonly AnyPolicy[]
  readonly deciders: ReadonlyMap<string, AnyDecider>
  readonly executor: Executor
  readonly parked: Pick<ParkedEvents, 'has' | 'holds' | 'park' | 'parkBehind'>
  readonly log: Log
  readonly giveWay?: GiveWay
}

/**
 * Sends the commands of policies: those for one stream in one write, in order of their causes, by which the
 * ledger recognises repeats (docs/decisions/0004): so appends need no fence. What a stream refuses is parked
 * with all later commands for it; where a policy throws, all later events of its owner, or of it, wait.
 */
export class PolicyRunner {
  readonly #options: PolicyRunnerOptions
  /** By the type of event they follow. */
  readonly #followers = new Map<string, AnyPolicy[]>()

  constructor(options: PolicyRunnerOptions) {
    this.#options = options
    for (const policy of options.policies) {
      for (const type of Object.keys(policy.on)) {
        this.#followers.set(type, [...(this.#followers.get(type) ?? []), policy])
      }
    }
  }

  follows(type: string): boolean {
    return this.#followers.has(type)
  }

  async handle(events: readonly StoredEvent[]): Promise<void> {
    const byTarget = new Map<string, CausedCommand[]>()
    const { giveWay } = this.#options
    for (const event of events) {
      await giveWay?.()
      for (const policy of this.#followers.get(event.type) ?? []) {
        const key = this.#parkingOf(policy, event)
        if (await this.#waitsBehind(policy.name, event)) continue
        if (await this.#waitsBehind(key, event)) continue
        try {
          for (const caused of this.#orders(policy, event)) collect(byTarget, caused)
        } catch (error) {
          await this.#parkPolicy(key, event, error)
        }
      }
    }
    await forEach([...byTarget], atOnce, async ([target, orders]) => {
      await giveWay?.()
      await this.#send(target, orders)
    })
  }

  /** Retries a parked event, for a stream or for a policy; throws when it fails again. */
  async retry(key: string, event: StoredEvent): Promise<void> {
    for (const policy of this.#followers.get(event.type) ?? []) {
      const own = this.#parkingOf(policy, event)
      if (key === own) await this.#retryPolicy(policy, event)
      else if (key === policy.name) await this.#retryWhole(own, policy, event)
      else if (!(await this.#waits([own, policy.name], event)))
        await this.#retryTarget(key, this.#orders(policy, event))
    }
  }

  /** Later events of its owner may wait there without this one, whose command the stream has refused. */
  async #waits(keys: readonly string[], event: StoredEvent): Promise<boolean> {
    const { parked } = this.#options
    const found = await Promise.all(keys.map((key) => parked.holds(key, event)))
    return found.includes(true)
  }

  /** What is known of its owner now may have to wait for that owner's earlier events. */
  async #retryWhole(key: string, policy: AnyPolicy, event: StoredEvent): Promise<void> {
    if (!(await this.#waitsBehind(key, event))) await this.#retryPolicy(policy, event)
  }

  async #waitsBehind(key: string, event: StoredEvent): Promise<boolean> {
    const { parked } = this.#options
    return parked.has(key) && (await parked.parkBehind(key, [placeOf(event)]))
  }

  /** What a policy that throws is parked by. */
  #parkingOf(policy: AnyPolicy, event: StoredEvent): string {
    try {
      return `${policy.name} of ${parkedName(this.#ownerOf(policy, event))}`
    } catch {
      return policy.name
    }
  }

  #ownerOf({ owner }: AnyPolicy, event: StoredEvent): Owner {
    if (!owner) return event.metadata
    const decider = this.#options.deciders.get(categoryOf(event.stream))
    return decider ? owner(recordedEvent(decider, event) as RecordedEvent<never>) : event.metadata
  }

  async #retryPolicy(policy: AnyPolicy, event: StoredEvent): Promise<void> {
    for (const caused of this.#orders(policy, event)) await this.#send(caused.target, [caused])
  }

  async #retryTarget(target: string, orders: readonly CausedCommand[]): Promise<void> {
    for (const caused of orders) {
      const { order, pending } = caused
      if (caused.target === target) await this.#options.executor.sendAll(order.decider, order.id, [pending])
    }
  }

  async #parkPolicy(key: string, event: StoredEvent, error: unknown): Promise<void> {
    const { parked, log } = this.#options
    log.error({ policy: key, event: event.id, stream: event.stream, error }, 'parked')
    await parked.park(key, [placeOf(event)], String(error))
  }

  #orders(policy: AnyPolicy, event: StoredEvent): readonly CausedCommand[] {
    const decider = this.#options.deciders.get(categoryOf(event.stream))
    if (!decider) return []
    const known = recordedEvent(decider, event)
    const { name, on, owner = () => event.metadata } = policy
    const whose = owner(known as RecordedEvent<never>)
    const seen = new Map<string, number>()
    return on[event.type]!(known).map((order) => {
      const target = streamName(order.decider.category, order.id)
      const nth = seen.get(target) ?? 0
      seen.set(target, nth + 1)
      // Two commands of one cause for one stream are two effects, distinguished by their index.
      return {
        order,
        target,
        event,
        pending: pendingCommandOf(order, known, { whose, policy: nth === 0 ? name : `${name}/${nth}` }),
      }
    })
  }

  async #send(target: string, orders: readonly CausedCommand[]): Promise<void> {
    const { executor, parked } = this.#options
    const places = () => orders.map(({ event }) => placeOf(event))
    if (parked.has(target) && (await parked.parkBehind(target, places()))) return
    const [{ order }] = orders as readonly [CausedCommand]
    try {
      await executor.sendAll(
        order.decider,
        order.id,
        orders.map(({ pending }) => pending),
      )
    } catch (error) {
      if (isPassing(error)) throw error
      await this.#sendOneByOne(target, orders)
    }
  }

  async #sendOneByOne(target: string, orders: readonly CausedCommand[]): Promise<void> {
    const { executor, parked, log } = this.#options
    for (const [index, { order, pending, event }] of orders.entries()) {
      try {
        await executor.sendAll(order.decider, order.id, [pending])
      } catch (error) {
        if (isPassing(error)) throw error
        log.error({ target, event: event.id, error }, 'parked')
        const places = orders.slice(index).map((each) => placeOf(each.event))
        return parked.park(target, places, String(error))
      }
    }
  }
}

function collect(byTarget: Map<string, CausedCommand[]>, caused: CausedCommand): void {
  const orders = byTarget.get(caused.target)
  if (orders) orders.push(caused)
  else byTarget.set(caused.target, [caused])
}

function parkedName(owner: Owner): string {
  return 'merchant' in owner ? `${owner.merchant}.${owner.livemode ? 'live' : 'test'}` : ownerText(owner)
}

function placeOf({ stream, revision, position, id, type }: StoredEvent): ParkedEvent {
  return { stream, revision, position, eventId: id, type }
}

function pendingCommandOf(
  { command, isNew }: PolicyCommand,
  { eventId, position, metadata }: RecordedEvent,
  { whose, policy }: { readonly whose: Owner; readonly policy: string },
): PendingCommand {
  const { correlation, traceparent } = metadata
  const envelope = Object.assign(ownerOf(whose), {
    actor: `policy:${policy}`,
    correlation,
    ...(traceparent && { traceparent }),
    ...(isNew && { isNew }),
    cause: { policy, position, event: eventId },
  })
  return { command, envelope }
}
