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
  #generation: number
  /** The highest offset known, by partition. */
  readonly #reached: Map<number, bigint>
  /** As it is in the journal. */
  #noted: ReadonlyMap<number, bigint>
  /** The topic was made anew, and the journal does not know yet. */
  #isUnnoted = false

  private constructor(journal: BusJournal, generation: number, reached: Map<number, bigint>) {
    this.#journal = journal
    this.#generation = generation
    this.#reached = reached
    this.#noted = new Map(reached)
  }

  static async load(journal: BusJournal): Promise<TopicGeneration> {
    const { generation, offsets } = await journal.published()
    const reached = Object.entries(offsets).map(
      ([partition, offset]) => [Number(partition), BigInt(offset)] as const,
    )
    return new TopicGeneration(journal, generation, new Map(reached))
  }

  mark(message: Message): Message {
    return { ...message, headers: { ...message.headers, [generationHeader]: String(this.#generation) } }
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
