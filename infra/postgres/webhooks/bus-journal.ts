import type pg from 'pg'
import { publicEventId } from '../../../packages/contract/identity.ts'
import type {
  BusJournal,
  Handled,
  PublicEvent,
  PublishedTopic,
} from '../../../packages/kernel/ports/messages.ts'
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
    ...publishedTopic(pool),
    ...olderTopics(pool),
    async handled(group, partition) {
      const { rows } = await pool.query<Handled>(
        `select branch, next_offset::text as "nextOffset", position, generation from bus_journal
         where consumers = $1 and partition = $2`,
        [group, partition],
      )
      return rows[0]
    },

    async note(group, partition, { branch, nextOffset, position, generation }) {
      await pool.query({
        name: 'note bus position',
        text: `
          insert into bus_journal (consumers, partition, branch, next_offset, position, generation)
          values ($1, $2, $3, $4, $5, $6)
          on conflict (consumers, partition) do update set branch = excluded.branch,
            next_offset = excluded.next_offset, generation = greatest(bus_journal.generation, excluded.generation),
            position = greatest(bus_journal.position, excluded.position)`,
        values: [group, partition, branch, nextOffset, position, generation],
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

function publishedTopic(pool: pg.Pool): Pick<BusJournal, 'published' | 'notePublished' | 'beginGeneration'> {
  return {
    async published() {
      const { rows } = await pool.query<PublishedTopic>('select generation, offsets from bus_topic')
      return rows[0] ?? { generation: 0, offsets: {} }
    },

    async notePublished(offsets) {
      await pool.query(
        `insert into bus_topic (generation, offsets) values (0, $1)
         on conflict (is_only) do update set offsets = excluded.offsets`,
        [offsets],
      )
    },

    async beginGeneration(offsets) {
      const { rows } = await pool.query<{ generation: number }>(
        `insert into bus_topic (generation, offsets) values (1, $1)
         on conflict (is_only) do update set offsets = excluded.offsets, generation = bus_topic.generation + 1
         returning generation`,
        [offsets],
      )
      return rows[0]!.generation
    },
  }
}

function olderTopics(pool: pg.Pool): Pick<BusJournal, 'handledInOlderTopics' | 'passOlderTopics'> {
  return {
    async handledInOlderTopics(group, generation) {
      const { rows } = await pool.query<{ position: number | null }>(
        'select min(position) as position from bus_journal where consumers = $1 and generation < $2',
        [group, generation],
      )
      return rows[0]!.position ?? undefined
    },

    async passOlderTopics(group, generation, position) {
      await pool.query(
        `update bus_journal set generation = $2, next_offset = 0, position = greatest(position, $3)
         where consumers = $1 and generation < $2`,
        [group, generation, position],
      )
    },
  }
}

function byPosition(one: PublicEvent, other: PublicEvent): number {
  return one.position - other.position
}
