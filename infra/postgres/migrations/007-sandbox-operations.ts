import type { Knex } from 'knex'

/**
 * The simulated operators' own records: they survive us as a real operator's would. An operation that a test
 * trigger ended before its submission has no request yet.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table sandbox_operations (
      reference text collate "C" primary key,
      kind text,
      merchant text collate "C",
      livemode boolean,
      amount bigint,
      currency text,
      method json,
      state jsonb not null,
      -- What will happen by itself, in order; the first of it at due_at.
      steps jsonb not null default '[]',
      due_at timestamptz,
      -- False: while it is pending, the operator answers no question about it.
      answers boolean not null default true,
      callbacks_owed integer not null default 0,
      callback_at timestamptz,
      callback_attempts integer not null default 0,
      -- How often we have called, and how often money was moved.
      calls integer not null default 0,
      executions integer not null default 0,
      created_at timestamptz not null
    )`)
  await knex.raw(`
    create index sandbox_operations_due on sandbox_operations (due_at)
    where callbacks_owed = 0 and due_at is not null`)
  await knex.raw(`
    create index sandbox_operations_calling on sandbox_operations (callback_at)
    where callback_at is not null`)
}
