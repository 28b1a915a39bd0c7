import type { ParkedEvents } from '../../infra/postgres/consumers/parked.ts'
import { categoryOf, streamName, type AnyDecider } from '../../packages/kernel/decider.ts'
import type { PendingCommand, Executor } from '../../packages/kernel/execute.ts'
import { recordedEvent } from '../../packages/kernel/history.ts'
import type { AnyPolicy, PolicyCommand } from '../../packages/kernel/policy.ts'
import type { Log, StoredEvent } from '../../packages/kernel/ports.ts'
import type { RecordedEvent } from '../../packages/kernel/projection.ts'
import { isPassing } from '../composition/failures.ts'

/** An order with the event that caused it. */
interface CausedCommand {
  readonly order: PolicyCommand
  readonly event: RecordedEvent
  readonly errand: PendingCommand
}

export interface PolicyRunnerOptions {
  readonly policies: readonly AnyPolicy[]
  readonly deciders: ReadonlyMap<string, AnyDecider>
  readonly executor: Executor
  readonly parked: Pick<ParkedEvents, 'has' | 'park'>
  readonly log: Log
}

/**
 * Sends what policies order. The orders of one stream go in the order of their causes and in one write, those
 * of different streams side by side. A stream that refuses an order is parked together with all later orders
 * for it, so that their order is kept: the ledger recognises repeats by the position of their cause
 * (docs/decisions/0004). That is also why appends need no fence: what a deposed runner orders, its successor
 * orders too, and only the first has effects.
 */
export class PolicyRunner {
  readonly #options: PolicyRunnerOptions

  constructor(options: PolicyRunnerOptions) {
    this.#options = options
  }

  async handle(events: readonly StoredEvent[]): Promise<void> {
    const byTarget = new Map<string, CausedCommand[]>()
    for (const stored of events) {
      const event = this.#recorded(stored)
      for (const caused of event ? this.#orders(event) : []) {
        const target = streamName(caused.order.decider.category, caused.order.id)
        byTarget.set(target, [...(byTarget.get(target) ?? []), caused])
      }
    }
    await Promise.all([...byTarget].map(([target, orders]) => this.#send(target, orders)))
  }

  /** Tries the parked orders for a target again; throws when one is refused again. */
  async retry(target: string, events: readonly StoredEvent[]): Promise<void> {
    for (const stored of events) {
      const event = this.#recorded(stored)
      const orders = event ? this.#orders(event) : []
      for (const { order, errand } of orders.filter(
        (one) => streamName(one.order.decider.category, one.order.id) === target,
      )) {
        await this.#options.executor.sendAll(order.decider, order.id, [errand])
      }
    }
  }

  #recorded(event: StoredEvent): RecordedEvent | undefined {
    const decider = this.#options.deciders.get(categoryOf(event.stream))
    const isFollowed = this.#options.policies.some(({ on }) => event.type in on)
    return decider && isFollowed ? recordedEvent(decider, event) : undefined
  }

  #orders(event: RecordedEvent): CausedCommand[] {
    const caused: CausedCommand[] = []
    for (const { name, on } of this.#options.policies) {
      const seen = new Map<string, number>()
      for (const order of on[event.type]?.(event) ?? []) {
        const target = streamName(order.decider.category, order.id)
        const nth = seen.get(target) ?? 0
        seen.set(target, nth + 1)
        // Two orders of one cause for one stream are two effects, told apart by their place.
        caused.push({ order, event, errand: errandOf(order, event, nth === 0 ? name : `${name}/${nth}`) })
      }
    }
    return caused
  }

  async #send(target: string, orders: readonly CausedCommand[]): Promise<void> {
    const { executor, parked } = this.#options
    if (parked.has(target)) return this.#park(target, orders, 'an earlier order for this stream is parked')
    const [{ order }] = orders as readonly [CausedCommand]
    try {
      await executor.sendAll(
        order.decider,
        order.id,
        orders.map(({ errand }) => errand),
      )
    } catch (error) {
      if (isPassing(error)) throw error
      await this.#sendOneByOne(target, orders)
    }
  }

  async #sendOneByOne(target: string, orders: readonly CausedCommand[]): Promise<void> {
    for (const [index, { order, errand }] of orders.entries()) {
      try {
        await this.#options.executor.sendAll(order.decider, order.id, [errand])
      } catch (error) {
        if (isPassing(error)) throw error
        return this.#park(target, orders.slice(index), String(error))
      }
    }
  }

  async #park(target: string, orders: readonly CausedCommand[], error: string): Promise<void> {
    this.#options.log.error({ target, event: orders[0]!.event.eventId, error }, 'parked')
    await this.#options.parked.park(
      target,
      orders.map(({ event }) => event),
      error,
    )
  }
}

function errandOf(
  { command }: PolicyCommand,
  { eventId, position, metadata }: RecordedEvent,
  policy: string,
): PendingCommand {
  const { merchant, livemode, correlation, traceparent } = metadata
  return {
    command,
    envelope: {
      merchant,
      livemode,
      actor: `policy:${policy}`,
      correlation,
      ...(traceparent && { traceparent }),
      cause: { policy, position, event: eventId },
    },
  }
}
