import type { Knex } from 'knex'

/**
 * Keys that seal personal fields of events. `subject` is a keyed digest of the person; the row without a
 * subject holds the key of that digest. `wrapped` is sealed under the master key, and null once the subject
 * is erased. A retired key seals nothing new.
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
