import type { Knex } from 'knex'

/**
 * An event is known by its position in the log as well as by its id; the position is half as long, and its
 * rows arrive in order. The key is stored twice for each delivery.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw('alter table deliveries drop constraint deliveries_once')
  await knex.raw(`
    alter table deliveries
    add constraint deliveries_once unique nulls not distinct (endpoint, sequence, replay)`)
}
