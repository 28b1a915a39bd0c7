import type { Knex } from 'knex'

/** The transparency log: an append-only Merkle tree over all events (docs/audit.md). */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table log_tiles (
      level smallint not null, index bigint not null,
      hashes bytea not null,
      primary key (level, index)
    );
    -- The leaves of a tile: what each event commits to, and where it stands in the event store.
    create table log_bundles (
      index bigint primary key,
      first_position bigint not null,
      positions bigint[] not null,
      commitments bytea not null
    );
    create index log_bundles_first_position on log_bundles (first_position);
    -- Hashes cannot be compressed, and rows that grow are written anew as a whole.
    alter table log_tiles alter column hashes set storage external;
    alter table log_bundles alter column commitments set storage external;
    create table log_checkpoints (
      size bigint primary key,
      root bytea not null,
      note text not null,
      position bigint not null,
      created_at timestamptz not null default now()
    );
    create table log_cosignatures (
      size bigint not null references log_checkpoints,
      witness text not null,
      line text not null,
      primary key (size, witness)
    );
    create table log_keys (
      id integer generated always as identity primary key,
      origin text not null,
      sealed_seed text not null,
      verifier_key text not null,
      created_at timestamptz not null default now()
    );
  `)
}
