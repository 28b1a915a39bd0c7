import { createRequire } from 'node:module'

/** What kafkajs 2.2 keeps of one connection: until when a broker has asked it to send nothing. */
interface RequestQueue {
  throttledUntil: number
  scheduleCheckPendingRequests(): void
}

/** After so long kafkajs looks again at what waits for another reason. */
const lookMs = 10

/**
 * kafkajs waits for the difference to a time that is -1 as long as no broker has throttled it. Since version
 * 23 Node.js warns of such time-outs on standard error, where operators take it for ours.
 */
export function waitForNoTimeInThePast(): void {
  const queue = createRequire(import.meta.url)('kafkajs/src/network/requestQueue') as {
    readonly prototype: RequestQueue
  }
  const schedule = queue.prototype.scheduleCheckPendingRequests
  queue.prototype.scheduleCheckPendingRequests = function (this: RequestQueue) {
    const { throttledUntil } = this
    this.throttledUntil = Math.max(throttledUntil, Date.now() + lookMs)
    schedule.call(this)
    this.throttledUntil = throttledUntil
  }
}
