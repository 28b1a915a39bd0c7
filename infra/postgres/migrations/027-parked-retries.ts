import type { Knex } from 'knex'

/** What waits for somebody outside is tried again by itself. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    alter table parked
      -- Null: only a person asks for another try.
      add column retry_at timestamptz,
      add column tries integer not null default 0`)
}
