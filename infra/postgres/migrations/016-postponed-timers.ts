import type { Knex } from 'knex'

/** Finds postponed timers by when they run again, however many wait for longer. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw('create index timer_attempts_again_at on timer_attempts (again_at)')
}
