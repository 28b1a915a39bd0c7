import type { Knex } from 'knex'

/**
 * The log of the embedded event store. A writer keeps the lock until its commit is visible, so positions
 * become visible in their order. The function reads once it has the lock; one statement reads earlier.
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
  await knex.raw(appendEvents)
}

const appendEvents = `
    create function append_events(
      append_streams text, append_expected text,
      event_appends text, event_streams text, event_revisions text, event_ids text, event_types text,
      event_data text, event_metadata text,
      out base bigint, out conflicts integer[]
    ) language plpgsql as $$
    declare
      separator constant text := E'\\x1f';
    begin
      perform pg_advisory_xact_lock(4719202602);

      -- Appends whose stream is not where they expect it are left out and named; the others are written.
      select coalesce(array_agg(append.number), '{}') into conflicts
      from rows from (
        unnest(string_to_array(append_streams, separator)),
        unnest(string_to_array(append_expected, separator)::integer[])
      ) with ordinality as append (stream, expected, number)
      where append.expected is distinct from coalesce((
        select event.revision from events event
        where event.stream = append.stream
        order by event.stream desc, event.revision desc
        limit 1
      ), -1);

      select coalesce(max(position), 0) into base from events;

      insert into events (position, stream, revision, id, type, data, metadata)
      select
        base + event.number, event.stream, event.revision, event.id, event.type,
        event.data::jsonb, event.metadata::jsonb
      from rows from (
        unnest(string_to_array(event_appends, separator)::integer[]),
        unnest(string_to_array(event_streams, separator)),
        unnest(string_to_array(event_revisions, separator)::integer[]),
        unnest(string_to_array(event_ids, separator)::uuid[]),
        unnest(string_to_array(event_types, separator)),
        unnest(string_to_array(event_data, separator)),
        unnest(string_to_array(event_metadata, separator))
      ) with ordinality as event (append, stream, revision, id, type, data, metadata, number)
      where event.append <> all (conflicts);
    end $$`
