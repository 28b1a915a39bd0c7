const minuteMs = 60_000

/** Spec, Events: five retries, each this long after the failure before it. */
export const retryDelaysMs = [5, 30, 2 * 60, 8 * 60, 24 * 60].map((minutes) => minutes * minuteMs)

/**
 * Inferred: up to a tenth later, so that deliveries that failed together do not return together; never
 * earlier.
 */
const jitterShare = 0.1

/**
 * When to retry after this many failed attempts; `undefined` when that was the last one. `chance` is from 0
 * to below 1.
 */
export function retryDueAt(failedAt: Date, attempts: number, chance: number): Date | undefined {
  const delayMs = retryDelaysMs[attempts - 1]
  if (delayMs === undefined) return undefined
  return new Date(failedAt.getTime() + Math.round(delayMs * (1 + jitterShare * chance)))
}
