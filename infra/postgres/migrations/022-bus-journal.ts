import type { Knex } from 'knex'

/**
 * How far each group has come on the bus, kept where the bus's retention does not reach. A history that is
 * restored or copied goes on as a branch of its own: messages of another branch are of events that this log
 * does not have.
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
