import type { Subscription } from '../../packages/kernel/ports.ts'

/** Subscriptions that end with their store. Those closed earlier are forgotten. */
export class OpenSubscriptions {
  readonly #open = new Set<Subscription>()

  add(subscription: Subscription): Subscription {
    this.#open.add(subscription)
    const close = async () => {
      await subscription.close()
      this.#open.delete(subscription)
    }
    return { close }
  }

  async close(): Promise<void> {
    await Promise.all([...this.#open].map((subscription) => subscription.close()))
  }
}
