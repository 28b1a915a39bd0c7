import type { Knex } from 'knex'

/** Compressing the positions of leaves took PostgreSQL longer than all the rest of writing them. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw('alter table log_bundles alter column positions set storage external')
}
