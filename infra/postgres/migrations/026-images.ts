import type { Knex } from 'knex'

/** Pictures of merchants, by what is in them. Which of them is shown is in the log. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table images (
      merchant uuid not null,
      livemode boolean not null,
      -- SHA-256 of the bytes, in hex.
      hash text not null,
      content_type text not null,
      bytes bytea not null,
      kept_at timestamptz not null default now(),
      primary key (merchant, livemode, hash)
    );
    create index images_by_hash on images (hash)`)
}
