import type { Knex } from 'knex'

/**
 * The only way into the log. The function checks each stream's revision after it has the lock; a single
 * statement would read earlier. A stream that the writer itself left at that revision is not read: the unique
 * key tells whether it has moved since.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(
    'drop function if exists append_events(text, text, text, text, text, text, text, text, text)',
  )
  await knex.raw(appendEvents)
}

const appendEvents = `
    create function append_events(
      checked_appends text, checked_streams text, checked_expected text,
      event_appends text, event_streams text, event_revisions text, event_ids text, event_types text,
      event_data text, event_metadata text,
      out base bigint, out conflicts integer[]
    ) language plpgsql as $$
    declare
      separator constant text := E'\\x1f';
    begin
      perform pg_advisory_xact_lock(4719202602);
      conflicts := '{}';

      -- Appends whose stream is not where they expect it are left out and named; the others are written.
      if checked_appends <> '' then
        select coalesce(array_agg(append.number), '{}') into conflicts
        from rows from (
          unnest(string_to_array(checked_appends, separator)::integer[]),
          unnest(string_to_array(checked_streams, separator)),
          unnest(string_to_array(checked_expected, separator)::integer[])
        ) as append (number, stream, expected)
        where append.expected is distinct from coalesce((
          select event.revision from events event
          where event.stream = append.stream
          order by event.stream desc, event.revision desc
          limit 1
        ), -1);
      end if;

      select coalesce(max(position), 0) into base from events;

      insert into events (position, stream, revision, id, type, data, metadata)
      select
        base + event.number, event.stream, event.revision, event.id, event.type,
        event.data::json, event.metadata::json
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
