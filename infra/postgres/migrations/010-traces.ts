import type { Knex } from 'knex'

/** Whoever makes an attempt later goes on with the trace of the event; mostly there is none. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw('alter table public_events add column traceparent text')
}
