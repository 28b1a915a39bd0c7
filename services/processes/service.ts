import { PostgresTimers } from '../../infra/postgres/timers.ts'
import type { Subscription } from '../../packages/kernel/ports.ts'
import { deciders, policies } from '../../packages/domain/index.ts'
import type { Runtime } from '../composition/dependencies.ts'
import { leading } from '../composition/leading.ts'
import { processes } from './families.ts'
import { startProcesses } from './main.ts'
import { observeMoney } from './metrics.ts'
import { Outcomes } from './outcomes.ts'

/** Runs policies, reactions and timers while this process leads, and stands by while another does. */
export function runProcesses(runtime: Runtime): Subscription {
  const {
    postgres: { pool },
    dependencies,
    health: { metrics },
  } = runtime
  observeMoney(runtime)
  return leading(runtime, 'processes', async (term) => {
    const timers = new PostgresTimers(pool, term.fence)
    const { store, log } = dependencies
    const counting = await new Outcomes(metrics).follow(store, log)
    try {
      const options = { dependencies, pool, deciders, policies, processes, timers, term }
      const running = await startProcesses(options)
      return { close: async () => void (await Promise.all([running.close(), counting.close()])) }
    } catch (error) {
      await counting.close()
      throw error
    }
  })
}
