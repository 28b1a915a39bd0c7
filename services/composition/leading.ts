import { once } from 'node:events'
import { lead, type LeaderName, type LeaderTerm } from '../../infra/postgres/consumers/leader.ts'
import type { Subscription } from '../../packages/kernel/ports.ts'
import type { Runtime } from './dependencies.ts'

/** Runs in one process at a time, the elected one; the others stand by and take over. */
export function leading(
  { postgres: { pool }, configuration: { instance }, health, dependencies: { log } }: Runtime,
  name: LeaderName,
  start: (term: LeaderTerm) => Promise<Subscription>,
): Subscription {
  health.leads.set(name, false)
  return lead({ pool, name, instance }, async (term) => {
    try {
      const running = await start(term)
      health.leads.set(name, true)
      log.info({ leader: name }, 'leads from now on')
      if (!term.signal.aborted) await once(term.signal, 'abort')
      await running.close()
    } catch (error) {
      // Usually the database is down: the next election starts over.
      log.warn({ name, error }, 'leading failed, and is tried again')
    } finally {
      if (health.leads.get(name)) log.info({ leader: name }, 'leads no more')
      health.leads.set(name, false)
    }
  })
}
