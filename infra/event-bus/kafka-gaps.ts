import type { Admin } from 'kafkajs'
import type { BusJournal, PublicEvent } from '../../packages/kernel/ports/messages.ts'
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

/** As the broker knows this group of consumers. */
export function groupIdOf(group: string): string {
  return `ikw.${group}`
}

/** What comes next in a partition. */
interface Place {
  readonly offset: bigint
  /** Of the topic that has this offset. */
  readonly generation: number
}

interface Gap {
  readonly partition: number
  /** Log position of the last event that was handled. */
  readonly position: number
  /** Where the broker goes on. */
  readonly next: Place
}

/**
 * Finds out that messages are gone which the group has not handled: it was away for too long, the topic was
 * made anew, or the log was restored. Then the log is read from the last event that was handled, or from its
 * beginning. What comes twice is known by its id.
 */
export class MissedMessages {
  readonly #options: GapsOptions
  /** By partition. */
  readonly #next = new Map<number, Place>()

  constructor(options: GapsOptions) {
    this.#options = options
  }

  /** Partitions have come to this member: another one may have gone on with them. */
  async onAssigned(partitions: readonly number[]): Promise<void> {
    this.#next.clear()
    const gaps: Gap[] = []
    const { journal, group, branch } = this.#options
    const [kept, committed] = [await this.#kept(), await this.#committed()]
    const { generation } = await journal.published()
    for (const partition of partitions) {
      const { low, high } = kept.get(partition) ?? { low: 0n, high: 0n }
      const handled = await journal.handled(group, partition)
      const offset = handled ? BigInt(handled.nextOffset) : (committed.get(partition) ?? 0n)
      const isOther = handled !== undefined && handled.branch !== branch
      // With a topic, the broker forgets where its groups are.
      const isAnew = handled ? handled.generation < generation : generation > 0 && !committed.has(partition)
      const isGone = isOther || isAnew || offset < low || offset > high
      if (isGone)
        gaps.push({ partition, position: handled?.position ?? 0, next: { offset: low, generation } })
      else this.#next.set(partition, { offset, generation })
    }
    if (gaps.length > 0) await this.#fill(gaps)
  }

  /** What the broker still has of each partition. */
  async #kept(): Promise<ReadonlyMap<number, { readonly low: bigint; readonly high: bigint }>> {
    const { admin, topic } = this.#options
    const offsets = await admin.fetchTopicOffsets(topic)
    return new Map(
      offsets.map(({ partition, low, high }) => [partition, { low: BigInt(low), high: BigInt(high) }]),
    )
  }

  /** Where the group is by the broker, which knows it for longer than the journal has existed. */
  async #committed(): Promise<ReadonlyMap<number, bigint>> {
    const { admin, topic, group } = this.#options
    const [known] = await admin.fetchOffsets({ groupId: groupIdOf(group), topics: [topic] })
    const offsets = known?.partitions ?? []
    const named = offsets.map(({ partition, offset }) => [partition, BigInt(offset)] as const)
    return new Map(named.filter(([, offset]) => offset >= 0n))
  }

  /** To be called before messages are handled, of which this is the first. */
  async onMessages(partition: number, first: Place): Promise<void> {
    const next = this.#next.get(partition)
    if (next === undefined || (first.offset <= next.offset && first.generation <= next.generation)) return
    const { journal, group } = this.#options
    const handled = await journal.handled(group, partition)
    await this.#fill([{ partition, position: handled?.position ?? 0, next: first }])
  }

  /**
   * Everything before this place is handled. `position` is that of the newest event among it; undefined when
   * all of it was set aside as no event of ours.
   */
  async onHandled(partition: number, next: Place, position: number | undefined): Promise<void> {
    const generation = Math.max(next.generation, this.#next.get(partition)?.generation ?? 0)
    const reached = { offset: next.offset, generation }
    // The place in the log from which the partition's next gap is filled stays where it was.
    await this.#note(partition, reached, position ?? 0)
    this.#next.set(partition, reached)
  }

  /** The log has the events of all partitions, so it is read once for all of them. */
  async #fill(gaps: readonly Gap[]): Promise<void> {
    const { journal, group, log, topic } = this.#options
    const partitions = gaps.map(({ partition }) => partition)
    const generation = Math.max(...gaps.map(({ next }) => next.generation))
    // All partitions of a lost topic are lost, also those that others have or that the next topic has not.
    const lost = await journal.handledInOlderTopics(group, generation)
    const from = Math.min(lost ?? Infinity, ...gaps.map(({ position }) => position))
    log.warn(
      { topic, partitions, position: from },
      'messages are gone: the log is read from the last one handled',
    )
    const newest = await this.#handleFrom(from)
    if (lost !== undefined) await journal.passOlderTopics(group, generation, newest)
    for (const { partition, next } of gaps) {
      await this.#note(partition, next, newest)
      this.#next.set(partition, next)
    }
  }

  /** Resolves to the position of the last event: what is behind it may not have been told yet. */
  async #handleFrom(position: number): Promise<number> {
    const { journal, handle } = this.#options
    let newest = position
    for (let after = position; ;) {
      const { events, through, isEnd } = await journal.behind(after, pageSize)
      if (events.length > 0) await handle(events)
      newest = events.at(-1)?.position ?? newest
      after = through
      if (isEnd) return newest
    }
  }

  #note(partition: number, { offset, generation }: Place, position: number): Promise<void> {
    const { journal, group, branch } = this.#options
    const nextOffset = String(offset)
    return journal.note(group, partition, { branch, nextOffset, generation, position })
  }
}
