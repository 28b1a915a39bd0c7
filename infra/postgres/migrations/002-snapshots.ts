import type { Knex } from 'knex'

/** States of long streams. They could be folded again, but a book of a million entries would take a while. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table snapshots (
      stream text collate "C" primary key,
      version integer not null,
      revision integer not null,
      state jsonb not null
    )`)
}
