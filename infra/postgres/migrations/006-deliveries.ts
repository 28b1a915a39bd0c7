import type { Knex } from 'knex'

/**
 * One row per endpoint and event, and another for each replay. A row without `due_at` is a first attempt,
 * which only waits for earlier ones; `worker` is the process that has the row in hand. The partial indexes
 * contain only outstanding work.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table deliveries (
      id bigint generated always as identity primary key,
      endpoint uuid not null,
      event text collate "C" not null,
      replay uuid,
      merchant uuid not null,
      livemode boolean not null,
      sequence bigint not null,
      resource text collate "C" not null,
      status text not null default 'pending' check (status in ('pending', 'succeeded', 'failed', 'skipped')),
      attempts integer not null default 0,
      due_at timestamptz,
      worker uuid,
      consequence jsonb,
      last_attempt_at timestamptz,
      last_status integer,
      last_answer text,
      created_at timestamptz not null,
      constraint deliveries_once unique nulls not distinct (endpoint, event, replay)
    )`)
  const waiting = `status = 'pending' and worker is null`
  const indexes = [
    `deliveries_in_order on deliveries (endpoint, sequence) where ${waiting} and due_at is null`,
    `deliveries_due on deliveries (endpoint, due_at, sequence) where ${waiting} and due_at is not null`,
    'deliveries_held on deliveries (endpoint, resource) where worker is not null',
    'deliveries_with_consequence on deliveries (id) where consequence is not null',
    'deliveries_of_replay on deliveries (replay) where replay is not null',
  ]
  for (const index of indexes) await knex.raw(`create index ${index}`)
  await knex.raw('create table webhook_workers (id uuid primary key, alive_until timestamptz not null)')
  await knex.raw(
    'create table webhook_replay_plans (replay uuid primary key, planned_at timestamptz not null)',
  )
}
