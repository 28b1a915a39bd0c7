import type pg from 'pg'
import { publicEventId } from '../../../packages/contract/identity.ts'
import type { BusJournal, Handled, PublicEvent } from '../../../packages/kernel/ports/messages.ts'
import type { EventStore } from '../../../packages/kernel/ports.ts'
import { publicEventsOf } from './public-events.ts'

interface JournalOptions {
  readonly pool: pg.Pool
  readonly store: Pick<EventStore, 'readAll'>
  /** Categories of streams that have public events; left out: all. */
  readonly categories?: readonly string[]
}

export function postgresBusJournal({ pool, store, categories }: JournalOptions): BusJournal {
  return {
    async handled(group, partition) {
      const { rows } = await pool.query<Handled>(
        `select branch, next_offset::text as "nextOffset", position from bus_journal
         where consumers = $1 and partition = $2`,
        [group, partition],
      )
      return rows[0]
    },

    async note(group, partition, { branch, nextOffset, position }) {
      await pool.query({
        name: 'note bus position',
        text: `
          insert into bus_journal (consumers, partition, branch, next_offset, position)
          values ($1, $2, $3, $4, $5)
          on conflict (consumers, partition) do update set branch = excluded.branch,
            next_offset = excluded.next_offset, position = greatest(bus_journal.position, excluded.position)`,
        values: [group, partition, branch, nextOffset, position],
      })
    },

    async behind(position, limit) {
      const stored = await store.readAll(position, limit, categories ? { categories } : {})
      const events = await publicEventsOf(
        pool,
        stored.map(({ id }) => publicEventId(id)),
      )
      return {
        events: events.toSorted(byPosition),
        through: stored.at(-1)?.position ?? position,
        isEnd: stored.length < limit,
      }
    },
  }
}

function byPosition(one: PublicEvent, other: PublicEvent): number {
  return one.position - other.position
}
