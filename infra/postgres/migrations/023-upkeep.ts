import type { Knex } from 'knex'

/** When those who run a service last did what it relies on them for: metrics tell its age. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table upkeep (
      task text collate "C" primary key,
      -- Of the log: what has come after it is not covered.
      position bigint not null,
      done_at timestamptz not null
    )`)
}
