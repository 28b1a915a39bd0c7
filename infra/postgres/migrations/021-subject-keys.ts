import type { Knex } from 'knex'

/**
 * Keys that personal fields of events are sealed with. `subject` is a keyed digest of whom they are about;
 * the row without one holds the key of that digest. `wrapped` is sealed under the master key, and null once
 * the subject is forgotten. A retired key seals nothing any more.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table subject_keys (
      subject text collate "C" not null,
      generation integer not null,
      wrapped text,
      created_at timestamptz not null default now(),
      retired_at timestamptz,
      primary key (subject, generation)
    )`)
  await knex.raw('create unique index subject_keys_in_use on subject_keys (subject) where retired_at is null')
  await knex.raw(
    'create index subject_keys_retired on subject_keys (retired_at) where retired_at is not null',
  )
}
