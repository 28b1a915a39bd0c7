import {
  ErrorType,
  jsonEvent,
  NO_STREAM,
  START,
  type EventStoreDBClient,
  type ReadPosition,
} from '@eventstore/db-client'
import { isOfType } from './errors.ts'

/** What this service keeps about the log as a whole; none of it is an event of the log. */
export const ownStreams = 'history-'
const historyStream = `${ownStreams}of-this-log`

/** Where a copied event stands: its position in the history, and in this server. */
export interface PositionMapping {
  readonly position: number
  readonly commit: number
}

type Note =
  | { readonly type: 'HistoryBegun'; readonly data: { readonly id: string } }
  | { readonly type: 'HistoryCopyBegun'; readonly data: { readonly id: string } }
  | { readonly type: 'HistoryPlaced'; readonly data: PositionMapping }
  | { readonly type: 'HistoryCopied'; readonly data: { readonly id: string } }

/**
 * Events that were copied here keep their positions, which stand in their metadata; later ones go on behind
 * the last of them. Here are some places from which the others are found: one for each batch of the copy.
 */
export class Places {
  /** Of the history in this store; undefined as long as it has none. */
  id: string | undefined
  /** False after a copy into this store was begun and before it is complete. */
  isComplete = true
  readonly #places: PositionMapping[] = []
  #revision: bigint | typeof NO_STREAM = NO_STREAM

  static async read(client: EventStoreDBClient): Promise<Places> {
    const places = new Places()
    await places.#read(client)
    return places
  }

  get last(): PositionMapping | undefined {
    return this.#places.at(-1)
  }

  get beforeLast(): PositionMapping | undefined {
    return this.#places.at(-2)
  }

  /** Of an event that was written here, and not copied. */
  positionOf(commit: number): number {
    const { last } = this
    return last ? last.position + commit - last.commit : commit
  }

  /** From where a subscription finds all events behind a position, and perhaps some before it. */
  startBehind(position: number): ReadPosition {
    const { last } = this
    if (!last) return readPosition(position)
    if (position >= last.position) return readPosition(last.commit + position - last.position)
    return readPosition(this.#places.findLast((place) => place.position <= position)?.commit ?? 0)
  }

  /** Names the history, unless it has a name. Who comes second of several processes takes the first one's. */
  async begin(client: EventStoreDBClient, id: string): Promise<void> {
    try {
      if (this.id === undefined) await this.note(client, { type: 'HistoryBegun', data: { id } })
    } catch (error) {
      if (!isOfType(error, ErrorType.WRONG_EXPECTED_VERSION)) throw error
      await this.#read(client)
    }
  }

  /** Writes something down; throws when somebody else has done so meanwhile. */
  async note(client: EventStoreDBClient, note: Note): Promise<void> {
    const event = jsonEvent({ type: note.type, data: { ...note.data } })
    const options = { expectedRevision: this.#revision, requiresLeader: true }
    const { nextExpectedRevision } = await client.appendToStream(historyStream, event, options)
    this.#revision = nextExpectedRevision
    this.#learn(note)
  }

  async #read(client: EventStoreDBClient): Promise<void> {
    try {
      for await (const { event } of client.readStream(historyStream, { requiresLeader: true })) {
        // Nobody else writes to this stream.
        if (event) this.#learn(event as unknown as Note)
        this.#revision = event?.revision ?? this.#revision
      }
    } catch (error) {
      if (!isOfType(error, ErrorType.STREAM_NOT_FOUND)) throw error
    }
  }

  #learn({ type, data }: Note): void {
    if (type === 'HistoryPlaced') return void this.#places.push(data)
    this.id = data.id
    this.isComplete = type !== 'HistoryCopyBegun'
  }
}

/** An event that was written through gRPC has the same commit and prepare position. */
function readPosition(commit: number): ReadPosition {
  return commit > 0 ? { commit: BigInt(commit), prepare: BigInt(commit) } : START
}
