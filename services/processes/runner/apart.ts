import { LRUCache } from 'lru-cache'
import type { Owner } from '../../../packages/kernel/owner.ts'
import type { DueTimer } from '../../../packages/kernel/ports/reads.ts'
import type { Tools } from './process.ts'

const retryMs = 15_000
const underWayMax = 100
const waitingMax = 10_000

type Timer = DueTimer<Owner>

/**
 * The work of a timer that waits for a server of others: nobody waits for it, so a slow one delays no payout.
 * It ends by stopping the timer; whatever has not by then is begun again, by this process or another.
 */
export function apart(work: (timer: Timer, tools: Tools) => Promise<void>) {
  return apartBy(({ id }) => id, work)
}

/**
 * The same where one mail is about all timers of a subject, which is what is before the first point. Work
 * that comes too early says when it is to be done.
 */
export function apartBySubject(work: (timer: Timer, tools: Tools) => Promise<Date | undefined>) {
  const waiting = new LRUCache<string, Date>({ max: waitingMax })
  const subjectOf = ({ subject }: Timer) => subject.split('.', 1)[0]!
  const begin = apartBy(subjectOf, async (timer, tools) => {
    const until = await work(timer, tools)
    if (until) waiting.set(subjectOf(timer), until)
  })
  return async (timer: Timer, tools: Tools): Promise<Date> => {
    const until = waiting.get(subjectOf(timer))
    return until && until > tools.dependencies.clock() ? until : begin(timer, tools)
  }
}

function apartBy(keyOf: (timer: Timer) => string, work: (timer: Timer, tools: Tools) => Promise<void>) {
  /** The other timer of the same key that came last while this one was worked for. */
  const underWay = new Map<string, { readonly id: string; next?: Timer }>()
  const begin = (timer: Timer, tools: Tools) => {
    const key = keyOf(timer)
    const current: { readonly id: string; next?: Timer } = { id: timer.id }
    underWay.set(key, current)
    work(timer, tools)
      .catch((error: unknown) => tools.dependencies.log.warn({ timer: timer.id, error }, 'tried again'))
      .finally(() => {
        underWay.delete(key)
        if (current.next) begin(current.next, tools)
      })
  }
  return async (timer: Timer, tools: Tools): Promise<Date> => {
    const current = underWay.get(keyOf(timer))
    if (current && current.id !== timer.id) current.next = timer
    if (!current && underWay.size < underWayMax) begin(timer, tools)
    return new Date(tools.dependencies.clock().getTime() + retryMs)
  }
}
