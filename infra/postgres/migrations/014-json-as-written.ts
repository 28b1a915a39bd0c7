import type { Knex } from 'knex'

/**
 * JSON is stored as text: parsing and reassembling it was a third of what PostgreSQL spent on an event. These
 * tables are rewritten, and older readers must restart.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    alter table events
      alter column data type json using data::json,
      alter column metadata type json using metadata::json`)
  await knex.raw('alter table snapshots alter column state type json using state::json')
  await knex.raw('alter table answers alter column body type json using body::json')
}
