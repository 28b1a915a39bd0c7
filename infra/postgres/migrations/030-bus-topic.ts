import type { Knex } from 'knex'

/** A topic that was made anew is told from the one before by its generation: offsets say nothing about it. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table if not exists bus_topic (
      is_only boolean primary key default true check (is_only),
      generation integer not null,
      offsets jsonb not null
    )`)
  await knex.raw('alter table bus_journal add column if not exists generation integer not null default 0')
}
