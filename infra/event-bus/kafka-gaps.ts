import type { Admin } from 'kafkajs'
import type { BusJournal, PublicEvent } from '../../packages/kernel/message-ports.ts'
import type { Log } from '../../packages/kernel/ports.ts'

export interface GapsOptions {
  readonly admin: Admin
  readonly topic: string
  readonly group: string
  /** Of the history that the messages of this service belong to. */
  readonly branch: string
  readonly journal: BusJournal
  readonly handle: (events: readonly PublicEvent[]) => Promise<void>
  readonly log: Log
}

const pageSize = 500

/**
 * Finds out that messages are gone which the group has not handled, because it was away for longer than the
 * broker keeps them, the topic was made anew, or the log was restored: then the log itself is read from the
 * last event that was handled. What comes twice is known by its id.
 */
export class MissedMessages {
  readonly #options: GapsOptions
  /** Offset that comes next, by partition. */
  readonly #next = new Map<number, bigint>()

  constructor(options: GapsOptions) {
    this.#options = options
  }

  /** Partitions have come to this member: another one may have gone on with them. */
  async onAssigned(partitions: readonly number[]): Promise<void> {
    const { admin, topic, journal, group, branch } = this.#options
    this.#next.clear()
    const offsets = new Map((await admin.fetchTopicOffsets(topic)).map((one) => [one.partition, one]))
    for (const partition of partitions) {
      const handled = await journal.handled(group, partition)
      const { low, high } = offsets.get(partition) ?? { low: '0', high: '0' }
      if (!handled) continue
      const next = BigInt(handled.nextOffset)
      const isGone = handled.branch !== branch || next < BigInt(low) || next > BigInt(high)
      if (isGone) await this.#fill(partition, handled.position, low)
      else this.#next.set(partition, next)
    }
  }

  /** To be called before messages are handled, the first of which has this offset. */
  async onMessages(partition: number, firstOffset: string): Promise<void> {
    const next = this.#next.get(partition)
    if (next === undefined || BigInt(firstOffset) <= next) return
    const { journal, group } = this.#options
    const handled = await journal.handled(group, partition)
    if (handled) await this.#fill(partition, handled.position, firstOffset)
  }

  /**
   * Everything up to this offset is handled. `position` is that of the newest event among it; undefined when
   * all of it was set aside as no event of ours.
   */
  async onHandled(partition: number, lastOffset: string, position: number | undefined): Promise<void> {
    // Without any event of ours there is no place in the log to go on from.
    if (position === undefined && !this.#next.has(partition)) return
    const next = BigInt(lastOffset) + 1n
    await this.#note(partition, next, position ?? 0)
    this.#next.set(partition, next)
  }

  async #fill(partition: number, position: number, nextOffset: string): Promise<void> {
    const { journal, handle, log, topic } = this.#options
    log.warn({ topic, partition, position }, 'messages are gone: the log is read from the last one handled')
    let after = position
    for (;;) {
      const { events, through, isEnd } = await journal.behind(after, pageSize)
      if (events.length > 0) await handle(events)
      after = through
      if (isEnd) break
    }
    await this.#note(partition, BigInt(nextOffset), after)
    this.#next.set(partition, BigInt(nextOffset))
  }

  #note(partition: number, next: bigint, position: number): Promise<void> {
    const { journal, group, branch } = this.#options
    return journal.note(group, partition, { branch, nextOffset: String(next), position })
  }
}
