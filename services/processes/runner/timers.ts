import type pg from 'pg'
import type { GiveWay } from '../../../infra/event-loop/turns.ts'
import { Checkpoints } from '../../../infra/postgres/consumers/checkpoints.ts'
import { TimerShares } from '../../../infra/postgres/consumers/timer-shares.ts'
import { PostgresTimers } from '../../../infra/postgres/timers.ts'
import type { Dependencies } from '../../../packages/contract/routes.ts'
import type { Subscription } from '../../../packages/kernel/ports.ts'
import { runTimers } from './due-timers.ts'
import { FailingTimers } from './failing-timers.ts'
import { HangingLanes } from './hanging-lanes.ts'
import { toolsOf } from './main.ts'
import type { Process } from './process.ts'
import { TimerPace } from './timer-pace.ts'

export interface TimersOptions {
  readonly dependencies: Dependencies
  readonly pool: pg.Pool
  readonly processes: readonly Process[]
  /** This process's name, for people. */
  readonly instance: string
  readonly giveWay?: GiveWay
}

/** Timers that run, and the shares of them that are this process's. */
export interface RunningTimers extends Subscription {
  readonly shares: Pick<TimerShares, 'held'>
  readonly failing: Pick<FailingTimers, 'longestSeconds'>
}

/** Runs this process's part of the timers, and the parts of those that end. */
export function startTimers(given: TimersOptions): RunningTimers {
  const { dependencies, pool, processes, instance, giveWay } = given
  const shares = new TimerShares({ pool, instance })
  const timers = new PostgresTimers(pool, shares)
  const stop = new AbortController()
  const tools = toolsOf(dependencies)
  const pace = new TimerPace({ checkpoints: new Checkpoints(pool), reads: dependencies.reads })
  const { log } = dependencies
  const failing = new FailingTimers(log)
  const hanging = new HangingLanes()
  const options = { processes, timers, tools, log, pace, failing, hanging, ...(giveWay && { giveWay }) }
  const running = runTimers(options, shares, stop.signal)
  const close = async () => {
    stop.abort()
    await running
    await shares.close()
  }
  return { close, shares, failing }
}
