import type { Knex } from 'knex'

/** A later attempt continues the trace of the event; usually there is none. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw('alter table public_events add column traceparent text')
}
