import type { Knex } from 'knex'

/** Who was erased and when, and what an erasure that was interrupted has still to redact. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table erasures (
      id bigint generated always as identity primary key,
      -- A digest of the person.
      person uuid not null,
      requested_by text not null,
      reason text not null,
      -- Under the master key; null once it is done.
      sealed text,
      begun_at timestamptz not null default now(),
      done_at timestamptz,
      check ((done_at is null) = (sealed is not null))
    );
    create unique index erasures_under_way on erasures (person) where done_at is null`)
}
