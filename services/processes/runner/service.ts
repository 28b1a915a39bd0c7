import { timerShares } from '../../../infra/postgres/consumers/timer-shares.ts'
import type { Subscription } from '../../../packages/kernel/ports.ts'
import { deciders, policies } from '../../../packages/domain/index.ts'
import type { Runtime } from '../../composition/dependencies.ts'
import { leading } from '../../composition/leading.ts'
import { processes } from '../../families.ts'
import { startProcesses } from './main.ts'
import { observeMoney } from './metrics.ts'
import { startTimers } from './timers.ts'
import { Outcomes } from './outcomes.ts'
import { followSecurity } from './security-log.ts'

/**
 * Runs this process's part of the timers, and policies and reactions while it leads; stands by for those
 * while another does.
 */
export function runProcesses(runtime: Runtime): Subscription {
  const {
    postgres: { pool },
    dependencies,
    health: { metrics },
    configuration,
    turns,
  } = runtime
  observeMoney(runtime)
  const { instance } = configuration
  const timing = startTimers({ dependencies, pool, processes, instance, giveWay: turns.lane() })
  const giveWay = turns.lane()
  metrics.gauge('timer_shares', `Shares of the timers that this process runs, of ${timerShares}`, () => {
    return timing.shares.held.length
  })
  metrics.gauges(
    'timer_failing_seconds',
    'How long a timer has failed in passing that has not worked since',
    {
      label: 'environment',
      read: async () => timing.failing.longestSeconds,
    },
  )
  const following = leading(runtime, 'processes', async (term) => {
    const { store, log } = dependencies
    const counting = await new Outcomes(metrics).follow(store, log)
    const telling = await followSecurity(store, log)
    try {
      const options = { dependencies, pool, deciders, policies, processes, term, giveWay }
      const running = await startProcesses(options)
      const all = [running, counting, telling]
      return { close: async () => void (await Promise.all(all.map((one) => one.close()))) }
    } catch (error) {
      await Promise.all([counting.close(), telling.close()])
      throw error
    }
  })
  return { close: async () => void (await Promise.all([following.close(), timing.close()])) }
}
