import type { Knex } from 'knex'

/**
 * What merchants were or could have been told: the exact bytes of each webhook body, once, however many
 * endpoints receive it.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table public_events (
      id text collate "C" primary key,
      sequence bigint not null unique,
      type text collate "C" not null,
      merchant uuid not null,
      livemode boolean not null,
      resource text collate "C" not null,
      payload text not null,
      created_at timestamptz not null
    )`)
  await knex.raw('create index public_events_of_merchant on public_events (merchant, livemode, sequence)')
}
