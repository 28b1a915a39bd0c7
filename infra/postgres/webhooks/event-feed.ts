import { LRUCache } from 'lru-cache'
import type pg from 'pg'
import type { PublicEvent } from '../../../packages/kernel/ports/messages.ts'
import { ownerText, type MerchantOwner } from '../../../packages/kernel/owner.ts'
import { fenced, type Fence } from '../consumers/fence.ts'
import { keepPublicEvents, type DatedPublicEvent } from './public-events.ts'

/** A public event without a sequence yet. */
export interface UnnumberedEvent extends Omit<PublicEvent, 'sequence' | 'payload'> {
  /** RFC 3339. */
  readonly createdAt: string
  readonly payload: (sequence: number) => string
}

export interface FeedOptions {
  readonly pool: pg.Pool
  /** The fence of the one relay that may write. */
  readonly fence?: Fence | undefined
}

/** Owners whose last sequence is kept in memory. */
const ownersMax = 50_000

/** Some of the events were stored before: only the others need sequences. */
class KeptBeforeError extends Error {}

/**
 * Numbers the events of each merchant and environment in the order in which they are told, and stores them.
 * Only one process does, behind its fence: so it knows each owner's last sequence without asking.
 */
export class EventFeed {
  readonly #options: FeedOptions
  readonly #newest = new LRUCache<string, number>({ max: ownersMax })
  #turn: Promise<unknown> = Promise.resolve()

  constructor(options: FeedOptions) {
    this.#options = options
  }

  /** Returns the same events with their sequences; what was stored before keeps the one it had. */
  keep(events: readonly UnnumberedEvent[]): Promise<readonly PublicEvent[]> {
    const kept = this.#turn.then(() => this.#keep(events))
    this.#turn = kept.catch(() => undefined)
    return kept
  }

  async #keep(events: readonly UnnumberedEvent[]): Promise<readonly PublicEvent[]> {
    try {
      return await this.#keepNew(events)
    } catch (error) {
      // Sequences assigned in memory may not be in the database.
      this.#newest.clear()
      if (error instanceof KeptBeforeError) return this.#keepRest(events)
      throw error
    }
  }

  #keepNew(events: readonly UnnumberedEvent[]): Promise<readonly PublicEvent[]> {
    const { pool, fence } = this.#options
    return fenced(pool, fence, async (connection) => {
      const numbered = await this.#number(connection, events)
      const added = await keepPublicEvents(connection, numbered)
      if (added < events.length) throw new KeptBeforeError()
      return numbered
    })
  }

  /** After a crash between storing and publishing, some of the events exist already. */
  async #keepRest(events: readonly UnnumberedEvent[]): Promise<readonly PublicEvent[]> {
    const { pool } = this.#options
    const text = 'select id, sequence, payload from public_events where id = any($1)'
    const { rows } = await pool.query<PublicEvent>(text, [events.map(({ id }) => id)])
    const before = new Map(rows.map((row) => [row.id, row]))
    const rest = await this.#keepNew(events.filter(({ id }) => !before.has(id)))
    const numbered = new Map([...before, ...rest.map((event) => [event.id, event] as const)])
    return events.map((event) => ({ ...event, ...numbered.get(event.id)! }))
  }

  async #number(connection: pg.ClientBase, events: readonly UnnumberedEvent[]): Promise<DatedPublicEvent[]> {
    await this.#load(connection, events)
    return events.map((event) => {
      const key = ownerText(event)
      const sequence = this.#newest.get(key)! + 1
      this.#newest.set(key, sequence)
      // A spread before other fields costs ten times as much.
      return Object.assign({}, event, { sequence, payload: event.payload(sequence) })
    })
  }

  async #load(connection: pg.ClientBase, events: readonly MerchantOwner[]): Promise<void> {
    const missing = new Map<string, MerchantOwner>()
    for (const event of events) if (!this.#newest.has(ownerText(event))) missing.set(ownerText(event), event)
    if (missing.size === 0) return
    const owners = [...missing.values()]
    const { rows } = await connection.query<MerchantOwner & { newest: number }>({
      name: 'newest public events',
      text: `
        select owner.merchant, owner.livemode, coalesce((
          select max(sequence) from public_events event
          where event.merchant = owner.merchant and event.livemode = owner.livemode), 0) as newest
        from unnest($1::uuid[], $2::boolean[]) as owner (merchant, livemode)`,
      values: [owners.map(({ merchant }) => merchant), owners.map(({ livemode }) => livemode)],
    })
    for (const row of rows) this.#newest.set(ownerText(row), row.newest)
  }
}
