import type { Knex } from 'knex'

/** When whoever carries out a request has last said so; null for what an older program began. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw('alter table answers add column in_hand_at timestamptz')
}
