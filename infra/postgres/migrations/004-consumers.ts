import type { Knex } from 'knex'

/** Each consumer's checkpoint, and the events it could not handle: their streams wait for a retry. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table checkpoints (
      name text collate "C" primary key,
      position bigint not null,
      -- Work in the outside world may have been begun up to here, though not checkpointed.
      attempted bigint not null default 0,
      updated_at timestamptz not null default now()
    )`)
  await knex.raw(`
    create table parked (
      consumer text collate "C" not null,
      stream text collate "C" not null,
      revision integer not null,
      position bigint not null,
      event_id uuid not null,
      type text collate "C" not null,
      error text not null,
      retry boolean not null default false,
      parked_at timestamptz not null default now(),
      primary key (consumer, stream, revision)
    )`)
  await knex.raw(`
    create table timer_attempts (
      id text collate "C" primary key,
      due_at timestamptz not null,
      attempts integer not null,
      again_at timestamptz not null
    )`)
}
