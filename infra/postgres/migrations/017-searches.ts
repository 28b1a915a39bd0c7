import type { Knex } from 'knex'

/** Trigram indexes for substring search in read models, together with the owner. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw('create extension if not exists pg_trgm')
  await knex.raw('create extension if not exists btree_gin')
}
