import type { Knex } from 'knex'

/**
 * The log of the embedded event store. A writer holds the lock until its commit is visible, so positions
 * become visible in order. Migration 015 creates the function that appends.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table events (
      position bigint primary key,
      stream text collate "C" not null,
      revision integer not null,
      id uuid not null,
      type text collate "C" not null,
      data jsonb not null,
      metadata jsonb not null,
      constraint events_stream_revision unique (stream, revision)
    )`)
}
