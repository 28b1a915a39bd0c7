import type { Knex } from 'knex'

/**
 * A delivery that a single process stores, sends and ends is in no index on its place, so that ending it
 * changes none: half of each page is left free for the update. `unlisted` marks it; null where others may
 * look for it. The unique key starts with the growing number, so it is appended to its index.
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
