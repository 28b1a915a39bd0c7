import type { Knex } from 'knex'

/**
 * A delivery that one process alone writes down, sends and ends stands in no index that asks where it is, so
 * that its end changes none: half of each page is left for it. `unlisted` says so; null in what others may
 * look for. The unique key begins with the number that grows, and is written at the end of its index.
 */
export async function up(knex: Knex): Promise<void> {
  // Fresh rows of a process that are not listed have greater ids.
  await knex.raw('alter table webhook_workers add column unlisted_after bigint')
  await knex.raw('drop index deliveries_in_order, deliveries_due, deliveries_held')
  await knex.raw(`
    alter table deliveries
      set (fillfactor = 50),
      drop constraint deliveries_once,
      add column unlisted boolean,
      add column place text collate "C" generated always as (
        case
          when worker is not null then case when unlisted is not true then 'held' end
          when status = 'pending' then 'waiting'
        end
      ) stored`)
  await knex.raw(`
    alter table deliveries
    add constraint deliveries_once unique nulls not distinct (sequence, endpoint, replay)`)
  const indexes = [
    `deliveries_in_order on deliveries (endpoint, sequence) where place = 'waiting' and due_at is null`,
    `deliveries_due on deliveries (endpoint, due_at, sequence) where place = 'waiting' and due_at is not null`,
    `deliveries_held on deliveries (endpoint, resource) where place = 'held'`,
  ]
  for (const index of indexes) await knex.raw(`create index ${index}`)
}
