import type { Knex } from 'knex'

/**
 * Whether all deliveries of a replay were tried is asked for each replay that is under way, however many
 * deliveries it has: only those that have a place are left.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create index deliveries_of_replay_left on deliveries (replay) where replay is not null and place is not null`)
}
