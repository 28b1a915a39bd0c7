import { PostgresTimers } from '../../infra/postgres/timers.ts'
import type { Subscription } from '../../packages/kernel/ports.ts'
import { deciders } from '../composition/deciders.ts'
import type { Opened } from '../composition/dependencies.ts'
import { leading } from '../composition/leading.ts'
import { processes } from './families.ts'
import { startProcesses } from './main.ts'

/**
 * Runs policies, reactions and timers while this process is elected for them, and stands by while another is.
 */
export function runProcesses(opened: Opened): Subscription {
  const {
    postgres: { pool },
    house,
  } = opened
  return leading(opened, 'processes', (reign) => {
    const timers = new PostgresTimers(pool, reign.fence)
    return startProcesses({ house, pool, deciders, processes, timers, reign })
  })
}
