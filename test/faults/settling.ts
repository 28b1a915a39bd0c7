import { setTimeout as pause } from 'node:timers/promises'
import type { World } from './world.ts'

/** What is still on its way, in the service and at the operators. $1: the last position of the log. */
const openInService = `
  select
    (select count(*) from read.payouts where status in ('pending', 'in_transit')) as payouts,
    (select count(*) from read.payment_intents where status in ('processing', 'requires_action')) as intents,
    (select count(*) from checkpoints where position < $1) as consumers,
    (select count(*) from deliveries where status = 'pending') as deliveries,
    (select count(*) from public_events told where position > (
      select max(created) from read.webhook_endpoints
    ) and not exists (select from deliveries where deliveries.event = told.id)) as untold`
const openAtOperators = `
  select count(*) as operations from sandbox_operations where callbacks_owed > 0 or due_at is not null`
const lookEveryMs = 200

/** Waits until all has come to its end, and answers what is still open when the time is over. */
export async function settle(world: World, settleMs: number): Promise<object | undefined> {
  const { postgres, operators } = world
  const until = performance.now() + settleMs
  for (;;) {
    const head = await lastPosition(world)
    const service = await postgres.pool.query<Record<string, unknown>>(openInService, [head])
    const rail = await operators.pool.query<Record<string, unknown>>(openAtOperators)
    const open = { ...service.rows[0], ...rail.rows[0] }
    if (Object.values(open).every((count) => Number(count) === 0)) return undefined
    if (performance.now() > until) return open
    await pause(lookEveryMs)
  }
}

async function lastPosition({ history, postgres }: World): Promise<number> {
  if (history) return history.events().at(-1)?.position ?? 0
  const { rows } = await postgres.pool.query<{ head: string }>('select max(position) as head from events')
  return Number(rows[0]!.head)
}
