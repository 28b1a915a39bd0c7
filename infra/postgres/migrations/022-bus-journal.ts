import type { Knex } from 'knex'

/**
 * Each group's progress on the bus, kept beyond the broker's retention. A restored or copied history
 * continues as a branch of its own: messages of another branch are about events that this log does not have.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw('alter table history add column branch uuid not null default gen_random_uuid()')
  await knex.raw(`
    create table bus_journal (
      consumers text collate "C" not null,
      partition integer not null,
      branch uuid not null,
      next_offset bigint not null,
      -- Of the log: everything of this partition up to here is handled.
      position bigint not null,
      primary key (consumers, partition)
    )`)
}
