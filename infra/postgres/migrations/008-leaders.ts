import type { Knex } from 'knex'

/**
 * Leaders. Each election starts a new epoch; a leader writes only in transactions that have seen its own
 * epoch here, so one that was suspended while another was elected writes nothing.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table leaders (
      name text collate "C" primary key,
      epoch bigint not null,
      instance text not null,
      since timestamptz not null default now()
    )`)
}
