import type { Knex } from 'knex'

/** Answers of requests with an idempotency key, so that repeats are answered the same. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table answers (
      merchant uuid not null,
      livemode boolean not null,
      operation text collate "C" not null,
      key text collate "C" not null,
      fingerprint text collate "C" not null,
      status text not null check (status in ('running', 'done')),
      http_status integer,
      body jsonb,
      started_at timestamptz not null default now(),
      finished_at timestamptz,
      primary key (merchant, livemode, operation, key)
    )`)
}
