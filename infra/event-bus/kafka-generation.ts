import type { RecordMetadata } from 'kafkajs'
import type { BusJournal } from '../../packages/kernel/ports/messages.ts'
import { generationHeader, type Message } from './kafka-messages.ts'

/**
 * Finds out, as the only one who publishes, that the topic was made anew: offsets, which only grow, are lower
 * than before. Consumers cannot see it once the new topic has as many messages as they have handled of the
 * one before, so messages name the generation of their topic.
 */
export class TopicGeneration {
  readonly #journal: BusJournal
  #generation = 0
  /** The highest offset known, by partition. */
  readonly #reached = new Map<number, bigint>()
  /** As it is in the journal. */
  #noted: ReadonlyMap<number, bigint> = new Map()
  /** The topic was made anew, and the journal does not know yet. */
  #isUnnoted = false

  constructor(journal: BusJournal) {
    this.#journal = journal
  }

  /** To be called before messages are marked: another relay may have led since the last ones. */
  async load(): Promise<void> {
    const { generation, offsets } = await this.#journal.published()
    this.#noted = new Map(
      Object.entries(offsets).map(([partition, offset]) => [Number(partition), BigInt(offset)]),
    )
    if (generation > this.#generation) this.#reached.clear()
    this.#generation = Math.max(generation, this.#generation)
    if (this.#isUnnoted) return
    for (const [partition, offset] of this.#noted)
      if (offset > (this.#reached.get(partition) ?? -1n)) this.#reached.set(partition, offset)
  }

  mark({ key, value, headers }: Message): Message {
    return { key, value, headers: { [generationHeader]: String(this.#generation), ...headers } }
  }

  /**
   * True when these messages have come to a new topic, marked as those of the one before: they are to be sent
   * again.
   */
  async isNew(sent: readonly RecordMetadata[]): Promise<boolean> {
    const offsets = sent.flatMap(({ partition, baseOffset }) =>
      baseOffset === undefined ? [] : [[partition, BigInt(baseOffset)] as const],
    )
    if (offsets.some(([partition, offset]) => offset <= (this.#reached.get(partition) ?? -1n))) {
      this.#isUnnoted = true
      this.#reached.clear()
    }
    for (const [partition, offset] of offsets) this.#reached.set(partition, offset)
    const isNew = this.#isUnnoted
    if (isNew) this.#generation = await this.#journal.beginGeneration(this.#offsets())
    else if (offsets.some((one) => this.#isFarAhead(one))) await this.#journal.notePublished(this.#offsets())
    else return false
    this.#noted = new Map(this.#reached)
    this.#isUnnoted = false
    return isNew
  }

  /** Half of an offset is enough to know one that has begun again, and is noted a few times only. */
  #isFarAhead([partition, offset]: readonly [number, bigint]): boolean {
    const noted = this.#noted.get(partition)
    return noted === undefined || offset > 2n * noted
  }

  #offsets(): Readonly<Record<string, string>> {
    return Object.fromEntries([...this.#reached].map(([partition, offset]) => [partition, String(offset)]))
  }
}
