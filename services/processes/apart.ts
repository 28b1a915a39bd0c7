import type { Owner } from '../../packages/kernel/owner.ts'
import type { DueTimer } from '../../packages/kernel/read-ports.ts'
import type { Tools } from './process.ts'

const retryMs = 15_000
const underWayMax = 100

/**
 * The work of a timer that waits for a server of others: nobody waits for it, so a slow one delays no payout.
 * It ends by stopping the timer; whatever has not by then is begun again, by this process or another.
 */
export function apart(work: (timer: DueTimer<Owner>, tools: Tools) => Promise<void>) {
  const underWay = new Set<string>()
  return async (timer: DueTimer<Owner>, tools: Tools): Promise<Date> => {
    const { clock, log } = tools.dependencies
    if (!underWay.has(timer.id) && underWay.size < underWayMax) {
      underWay.add(timer.id)
      work(timer, tools)
        .catch((error: unknown) => log.warn({ timer: timer.id, error }, 'tried again'))
        .finally(() => underWay.delete(timer.id))
    }
    return new Date(clock().getTime() + retryMs)
  }
}
