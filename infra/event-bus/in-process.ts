import type { EventBus, PublicEvent } from '../../packages/kernel/ports/messages.ts'
import type { Subscription } from '../../packages/kernel/ports.ts'

type Handle = (events: readonly PublicEvent[]) => Promise<void>

/**
 * A bus within one process. A publish resolves when every group has handled the message, so the publisher
 * keeps it until then. Of several consumers of a group, the oldest gets everything.
 */
export class InProcessBus implements EventBus {
  readonly #groups = new Map<string, readonly Handle[]>()

  async publish(events: readonly PublicEvent[]): Promise<void> {
    if (this.#groups.size === 0)
      throw new Error('nobody is subscribed yet, so nobody would keep the messages')
    for (const [handle] of this.#groups.values()) await handle!(events)
  }

  async subscribe(group: string, handle: Handle): Promise<Subscription> {
    this.#groups.set(group, [...(this.#groups.get(group) ?? []), handle])
    return { close: async () => this.#leave(group, handle) }
  }

  async close(): Promise<void> {
    this.#groups.clear()
  }

  #leave(group: string, handle: Handle): void {
    const others = (this.#groups.get(group) ?? []).filter((other) => other !== handle)
    if (others.length > 0) this.#groups.set(group, others)
    else this.#groups.delete(group)
  }
}
