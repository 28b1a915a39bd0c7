import type { Readable } from 'node:stream'
import { setImmediate as turn } from 'node:timers/promises'
import type {
  AllStreamResolvedEvent,
  AllStreamSubscription,
  ResolvedEvent,
  StreamingRead,
} from '@eventstore/db-client'

export type Resolved = ResolvedEvent | AllStreamResolvedEvent

/**
 * Takes events out of a stream of the client. Such a stream reports an error without being destroyed by it,
 * also when nobody listens any more, and is kept by the client until all that it holds was read.
 */
export class Feed {
  readonly #stream: Readable
  readonly #cancel: () => Promise<void>
  #wake = () => {}
  #ended = false
  /** The server has nothing more to say. */
  #over = false
  #error: Error | undefined

  private constructor(stream: Readable, cancel: () => Promise<void>) {
    this.#stream = stream
    this.#cancel = cancel
    stream.on('readable', () => this.#wake())
    stream.on('end', () => this.#finish())
    stream.on('error', (error: Error) => this.#finish(error))
  }

  static ofRead(read: StreamingRead<Resolved>): Feed {
    return new Feed(read, () => read.cancel())
  }

  static ofSubscription(subscription: AllStreamSubscription): Feed {
    return new Feed(subscription, () => subscription.unsubscribe())
  }

  /** A feed that ends where the log ended when the server had sent all of it. */
  static untilCaughtUp(subscription: AllStreamSubscription): Feed {
    const feed = Feed.ofSubscription(subscription)
    subscription.on('caughtUp', () => feed.#end())
    return feed
  }

  /** What is there, at most so many; waits for the first event only. Empty at the end. Throws an error. */
  async take(most: number): Promise<readonly Resolved[]> {
    for (;;) {
      const events = this.#available(most)
      if (events.length > 0) return events
      if (this.#error) throw this.#error
      if (this.#ended) return []
      await new Promise<void>((wake) => (this.#wake = wake))
      await turn() // Events of one packet come one after the other: now all of them are there.
    }
  }

  /**
   * Gives up the call; who waits in `take` gets the error, or else the end. A call that is over is not
   * cancelled: servers break with a client that cancels too often. One that was never made cannot be.
   */
  close(error?: Error): void {
    this.#end(error)
    this.#stream.removeAllListeners('readable').resume()
    if (!this.#over) void this.#cancel().catch(() => undefined)
  }

  #available(most: number): Resolved[] {
    const events: Resolved[] = []
    while (events.length < most) {
      const event: Resolved | null = this.#stream.read()
      if (event === null) break
      events.push(event)
    }
    return events
  }

  #finish(error?: Error): void {
    this.#over = true
    this.#end(error)
  }

  #end(error?: Error): void {
    this.#ended = true
    this.#error ??= error
    this.#wake()
  }
}
