import type { Knex } from 'knex'

/**
 * The history that checkpoints, deliveries and read models of this database belong to. A copy of the history
 * keeps its id, so at the start log and database find out whether they belong together.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table history (
      one boolean primary key default true check (one),
      id uuid not null,
      -- Something is being copied in here, and is not complete yet.
      is_incomplete boolean not null default false
    )`)
  await knex.raw('insert into history (id) values (gen_random_uuid())')
}
