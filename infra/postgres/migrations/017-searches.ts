import type { Knex } from 'knex'

/** What finds a part of a text in a read model by an index, together with whose it is. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw('create extension if not exists pg_trgm')
  await knex.raw('create extension if not exists btree_gin')
}
