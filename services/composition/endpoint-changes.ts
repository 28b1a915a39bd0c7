import { Batcher } from '../../infra/postgres/client/batcher.ts'
import { webhookEndpoint } from '../../packages/domain/webhook-endpoints/webhook-endpoint.ts'
import { parseStreamName } from '../../packages/kernel/decider.ts'
import { ownerText } from '../../packages/kernel/owner.ts'
import type { EventStore, StoredEvent } from '../../packages/kernel/ports.ts'

/** The newest thing that has happened to an endpoint. */
export interface EndpointChange {
  readonly id: string
  /** As `ownerText` writes it. */
  readonly owner: string
  readonly position: number
}

type Log = Pick<EventStore, 'head' | 'readAll'>

const categories = [webhookEndpoint.category]
const pageSize = 1_000

const known = new WeakMap<Log, EndpointChanges>()

/** Of one log, shared by all who ask in this process. */
export function endpointChanges(log: Log): EndpointChanges {
  const changes = known.get(log) ?? new EndpointChanges(log)
  known.set(log, changes)
  return changes
}

/**
 * What has recently happened to the endpoints of all owners. Each part of the log is read once, whoever asks:
 * read for each of a thousand owners, what was ahead of the read model kept PostgreSQL busy for minutes.
 */
class EndpointChanges {
  readonly #log: Log
  readonly #asked = new Batcher((positions: readonly number[]) => this.#answer(positions), {
    statementsAtOnce: 1,
  })
  /** By endpoint: all that have changed behind `from` and up to `through`. */
  readonly #newest = new Map<string, EndpointChange>()
  #from = Infinity
  #through = 0

  constructor(log: Log) {
    this.#log = log
  }

  /** Endpoints to which something has happened behind a position of the log, as of now. */
  after(position: number): Promise<readonly EndpointChange[]> {
    return this.#asked.enqueue(position)
  }

  async #answer(positions: readonly number[]): Promise<readonly EndpointChange[][]> {
    const least = Math.min(...positions)
    if (least < this.#from) {
      this.#newest.clear()
      this.#from = this.#through = least
    }
    await this.#readOn(await this.#log.head())
    const changes = [...this.#newest.values()]
    return positions.map((after) => changes.filter(({ position }) => position > after))
  }

  async #readOn(head: number): Promise<void> {
    while (this.#through < head) {
      const events = await this.#log.readAll(this.#through, pageSize, { categories })
      for (const event of events) this.#note(event)
      const last = events.at(-1)?.position ?? head
      this.#through = events.length < pageSize ? Math.max(head, last) : last
    }
  }

  #note({ stream, metadata, position }: StoredEvent): void {
    const { id } = parseStreamName(stream)
    this.#newest.set(id, { id, owner: ownerText(metadata), position })
  }
}
