import type { Knex } from 'knex'

/** Keys that sign the log after the first one, and what the service's own auditor has found. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- Of the event that announces the key, which signs from there on; null for the first one.
    alter table log_keys add column announced_position bigint;
    create table audit_findings (
      problem text collate "C" primary key,
      found_at timestamptz not null
    )`)
}
