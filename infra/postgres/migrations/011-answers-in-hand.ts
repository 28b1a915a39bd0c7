import type { Knex } from 'knex'

/** When the process carrying out a request last renewed it; null for one started by an older version. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw('alter table answers add column in_hand_at timestamptz')
}
