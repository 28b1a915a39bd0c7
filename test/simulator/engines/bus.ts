import type { PublicEvent } from '../../../packages/kernel/ports/messages.ts'
import { BrokenConnectionError } from './database.ts'
import { nobody } from '../scheduler.ts'
import type { Stage } from '../stage.ts'

/** Messages that are kept in their order and handed over at least once, and the deliveries made from them. */
export class SimulatedBus {
  /** One row for each event and endpoint; here each merchant has one endpoint. */
  readonly deliveries = new Map<string, PublicEvent>()
  readonly #stage: Stage
  readonly #messages: PublicEvent[] = []
  readonly #newest = new Map<string, number>()
  #handled = 0
  #isPlanned = false

  constructor(stage: Stage) {
    this.#stage = stage
  }

  get isEmpty(): boolean {
    return this.#handled === this.#messages.length
  }

  publish(events: readonly PublicEvent[]): void {
    const { random, faults } = this.#stage.scheduler
    this.#messages.push(...events)
    this.#plan()
    if (random.chance(faults.repeatedMessage))
      throw new BrokenConnectionError('the answer of the bus was lost')
  }

  #plan(): void {
    if (this.#isPlanned || this.isEmpty) return
    this.#isPlanned = true
    this.#stage.scheduler.after(0, nobody, () => this.#handOver())
  }

  /** The rows are kept before the offset moves, and a consumer that dies in between gets the same again. */
  #handOver(): void {
    const { random, faults } = this.#stage.scheduler
    this.#isPlanned = false
    const through = Math.min(this.#messages.length, this.#handled + 1 + random.below(8))
    for (const event of this.#messages.slice(this.#handled, through)) this.#keep(event)
    const isRewound = random.chance(faults.repeatedMessage)
    this.#handled = isRewound ? Math.max(0, this.#handled - random.below(4)) : through
    this.#plan()
  }

  /** What the table `deliveries` does: unique by endpoint and event. */
  #keep(event: PublicEvent): void {
    if (this.deliveries.has(event.id)) return
    this.deliveries.set(event.id, event)
    const newest = this.#newest.get(event.resource) ?? 0
    if (event.sequence < newest)
      this.#stage.violate('R5', `${event.type} of ${event.resource} is delivered out of order`)
    this.#newest.set(event.resource, event.sequence)
  }
}
