import { PostgresTimers } from '../../infra/postgres/timers.ts'
import type { Subscription } from '../../packages/kernel/ports.ts'
import { deciders, policies } from '../../packages/domain/index.ts'
import type { Runtime } from '../composition/dependencies.ts'
import { leading } from '../composition/leading.ts'
import { processes } from './families.ts'
import { startProcesses } from './main.ts'

/**
 * Runs policies, reactions and timers while this process is elected for them, and stands by while another is.
 */
export function runProcesses(runtime: Runtime): Subscription {
  const {
    postgres: { pool },
    dependencies,
  } = runtime
  return leading(runtime, 'processes', (term) => {
    const timers = new PostgresTimers(pool, term.fence)
    return startProcesses({ dependencies, pool, deciders, policies, processes, timers, term })
  })
}
