import type { Knex } from 'knex'

/** What the auditor must still know when another process goes on with its work. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table audit_state (
      -- One row.
      id boolean primary key default true check (id),
      -- How many findings audit_findings does not name, and when there were some last.
      unnamed bigint not null default 0,
      unnamed_at timestamptz,
      -- New events were compared up to here; the root is null where they were not those of the tree.
      size bigint,
      position bigint,
      root bytea
    );
    insert into audit_state default values`)
}
