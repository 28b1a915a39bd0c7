import type { Knex } from 'knex'

/** When operators last did what the service relies on them for: metrics show its age. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table upkeep (
      task text collate "C" primary key,
      -- Of the log: what has come after it is not covered.
      position bigint not null,
      done_at timestamptz not null
    )`)
}
