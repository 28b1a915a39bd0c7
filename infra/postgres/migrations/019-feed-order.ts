import type { Knex } from 'knex'

/**
 * A sequence per merchant and environment, in the order in which events are told. Earlier events have their
 * log position as sequence and none in `position`: numbering continues from there.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    alter table public_events add column position bigint, drop constraint public_events_sequence_key`)
  await knex.raw('create unique index public_events_in_order on public_events (merchant, livemode, sequence)')
  await knex.raw(`
    create index public_events_by_position
    on public_events (merchant, livemode, (coalesce(position, sequence)))`)
  await knex.raw('drop index public_events_of_merchant')
}
