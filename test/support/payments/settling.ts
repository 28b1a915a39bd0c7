import type pg from 'pg'
import { eventually } from '../eventually.ts'

/** By then most leases and expectations are over. */
const leapMs = 15 * 60_000
const timesFaster = 100

/** A clock that can be made to leap ahead and then run faster. */
export class Time {
  #leaptAt: number | undefined

  readonly clock = (): Date => {
    const now = Date.now()
    return new Date(this.#leaptAt === undefined ? now : now + leapMs + (now - this.#leaptAt) * timesFaster)
  }

  fly(): void {
    this.#leaptAt = Date.now()
  }
}

/**
 * What has not come to its end, what an operator will still say, and what is not followed to the head of the
 * log.
 */
const unsettled = `
  select (select count(*) from read.payouts where status in ('pending', 'in_transit') and state->>'delay' is null)
    + (select count(*) from read.refunds where status = 'pending')
    + (select count(*) from read.payment_intents where status in ('processing', 'requires_action'))
    + (select count(*) from sandbox_operations where callbacks_owed > 0 or due_at is not null)
    + (select count(*) from checkpoints where position < (select max(position) from events)) as count`

/** Keys of requests that died are free again after a minute by the server's clock: pretend it is over. */
export async function freeDeadKeys(pool: pg.Pool): Promise<void> {
  await pool.query(
    `update answers set started_at = started_at - interval '2 minutes' where status = 'running'`,
  )
}

/** Waits until everything is done that ever will be. */
export async function settled(pool: pg.Pool): Promise<void> {
  const open = async () => (await pool.query<{ count: number }>(unsettled)).rows[0]!.count
  await eventually(open, (count) => count === 0)
}
