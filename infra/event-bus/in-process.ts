import type { EventBus, PublicEvent, Subscription } from '../../packages/kernel/ports.ts'

type Handle = (events: readonly PublicEvent[]) => Promise<void>

/** The bus of one process: a message is kept when every group has handled it, so its publisher keeps it until then. */
export class InProcessBus implements EventBus {
  readonly #groups = new Map<string, Handle>()

  async publish(events: readonly PublicEvent[]): Promise<void> {
    for (const handle of this.#groups.values()) await handle(events)
  }

  async subscribe(group: string, handle: Handle): Promise<Subscription> {
    if (this.#groups.has(group)) throw new Error(`the group ${group} is subscribed already`)
    this.#groups.set(group, handle)
    return { close: async () => void this.#groups.delete(group) }
  }

  async close(): Promise<void> {
    this.#groups.clear()
  }
}
