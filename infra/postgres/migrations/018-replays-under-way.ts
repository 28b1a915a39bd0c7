import type { Knex } from 'knex'

/**
 * Whether all deliveries of a replay were tried is asked for each replay in progress, however many deliveries
 * it has: only those that are waiting keep a place.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create index deliveries_of_replay_left on deliveries (replay) where replay is not null and place is not null`)
}
